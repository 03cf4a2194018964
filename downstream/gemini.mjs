// Drives the hook stages of @google/gemini-cli-core over a list of cases.
//
//   node gemini.mjs CASES.json ANSWERS.json
//
// CASES is what cases.py wrote: name, directory, hooks, disabled, event, fields. ANSWERS says, for each name, which
// hooks ran and with what result, and how the package itself reads the merged output. Nothing is judged here.

import { readFileSync, writeFileSync } from "node:fs";
import { HookAggregator, HookEventHandler, HookPlanner, HookRegistry, HookRunner } from "@google/gemini-cli-core";

/** As much of the host's configuration as the stages ask for. */
function host(item) {
  const config = {
    storage: { getPlansDir: () => "/nowhere/plans" },
    sanitizationConfig: { enableEnvironmentVariableRedaction: false },
    isTrustedFolder: () => true,
    getProjectHooks: () => undefined, // keeps the package from writing down what it trusts
    getProjectRoot: () => item.directory,
    getHooks: () => item.hooks,
    getDisabledHooks: () => item.disabled,
    getExtensions: () => [],
    getSessionId: () => item.fields.session_id,
    getWorkingDir: () => item.directory,
    getUsageStatisticsEnabled: () => false,
    getTelemetryEnabled: () => false,
    getTelemetryLogPromptsEnabled: () => false,
  };
  return Object.assign(config, { config });
}

/** The package's runner, with a note of each result in the order of the plan. */
class Recorder extends HookRunner {
  results = [];

  async executeHook(hook, event, input) {
    const place = this.results.push(null) - 1;
    const result = await super.executeHook(hook, event, input);
    this.results[place] = {
      hook: hook.name || hook.command || hook.type,
      success: result.success,
      error: result.error ? result.error.message : "",
    };
    return result;
  }
}

function fired(handler, event, given) {
  switch (event) {
    case "BeforeTool":
      return handler.fireBeforeToolEvent(given.tool_name, given.tool_input, given.mcp);
    case "AfterTool":
      return handler.fireAfterToolEvent(given.tool_name, given.tool_input, given.tool_response, given.mcp);
    case "BeforeAgent":
      return handler.fireBeforeAgentEvent(given.prompt);
    case "AfterAgent":
      return handler.fireAfterAgentEvent(given.prompt, given.response, given.stop_hook_active);
    case "BeforeModel":
      return handler.fireBeforeModelEvent(given.request);
    case "AfterModel":
      return handler.fireAfterModelEvent(given.request, given.sdk_response);
    case "BeforeToolSelection":
      return handler.fireBeforeToolSelectionEvent(given.request);
    case "SessionStart":
      return handler.fireSessionStartEvent(given.source);
    case "SessionEnd":
      return handler.fireSessionEndEvent(given.reason);
    case "PreCompress":
      return handler.firePreCompressEvent(given.trigger);
    case "Notification":
      return handler.fireNotificationEvent(given.notification_type, given.message, given.details);
    default:
      throw new Error(`no event is called ${event}`);
  }
}

/** What an output says when it is asked through its own methods. One that throws says that. */
function asked(output, method, ...rest) {
  try {
    return typeof output[method] === "function" ? output[method](...rest) : undefined;
  } catch (error) {
    return { threw: error.message };
  }
}

function read(output, item) {
  const request = item.fields.request;
  return {
    decision: output.decision,
    blocked: asked(output, "getBlockingError"),
    stopped: asked(output, "shouldStopExecution"),
    reason: asked(output, "getEffectiveReason"),
    message: output.systemMessage,
    suppress: output.suppressOutput,
    specific: output.hookSpecificOutput,
    context: asked(output, "getAdditionalContext"),
    clear: asked(output, "shouldClearContext"),
    tool_input: asked(output, "getModifiedToolInput"),
    synthetic: asked(output, "getSyntheticResponse"),
    modified: asked(output, "getModifiedResponse"),
    request: request && asked(output, "applyLLMRequestModifications", request),
  };
}

async function answered(item) {
  const config = host(item);
  const registry = new HookRegistry(config);
  await registry.initialize();
  const runner = new Recorder(config);
  const handler = new HookEventHandler(config, new HookPlanner(registry), runner, new HookAggregator());
  const result = await fired(handler, item.event, item.fields);
  return {
    results: runner.results,
    success: result.success,
    errors: result.errors.map((error) => error.message),
    output: result.finalOutput ? read(result.finalOutput, item) : null,
  };
}

const [, , from, to] = process.argv;
const answers = {};
for (const item of JSON.parse(readFileSync(from, "utf8"))) {
  try {
    answers[item.name] = await answered(item);
  } catch (error) {
    answers[item.name] = { broken: String(error) };
  }
}
writeFileSync(to, JSON.stringify(answers));
process.exit(0); // a hook that outlives its timeout must not keep us
