"""How each event may be called, as types: its own name, every dialect's, and both in snake_case.

Only type checkers and editors read this module; tests/test_payloads.py holds it to the catalogue.
"""

from typing import Literal

SessionStart = Literal["SessionStart", "session_start"]
UserPromptSubmit = Literal["UserPromptSubmit", "user_prompt_submit", "prompt_submit", "BeforeAgent", "before_agent"]
BeforeToolSelection = Literal["BeforeToolSelection", "before_tool_selection"]
BeforeModel = Literal["BeforeModel", "before_model"]
AfterModel = Literal["AfterModel", "after_model"]
PermissionAsked = Literal["PermissionAsked", "permission_asked"]
PermissionReplied = Literal["PermissionReplied", "permission_replied"]
PreToolUse = Literal["PreToolUse", "pre_tool_use", "BeforeTool", "before_tool"]
PostToolUse = Literal["PostToolUse", "post_tool_use", "AfterTool", "after_tool"]
FileEdited = Literal["FileEdited", "file_edited"]
PostTurn = Literal["PostTurn", "post_turn"]
PreCompact = Literal["PreCompact", "pre_compact", "PreCompress", "pre_compress"]
PostCompact = Literal["PostCompact", "post_compact"]
Notification = Literal["Notification", "notification"]
SubagentStop = Literal["SubagentStop", "subagent_stop"]
Stop = Literal["Stop", "stop", "AfterAgent", "after_agent"]
SessionIdle = Literal["SessionIdle", "session_idle"]
SessionError = Literal["SessionError", "session_error", "error"]
SessionEnd = Literal["SessionEnd", "session_end", "session_stop"]
PreStep = Literal["PreStep", "pre_step"]
PostStep = Literal["PostStep", "post_step"]
OnApprovalRequested = Literal["OnApprovalRequested", "on_approval_requested"]
OnHandoffEmitted = Literal["OnHandoffEmitted", "on_handoff_emitted"]
OnPersonaPaused = Literal["OnPersonaPaused", "on_persona_paused"]
OnPersonaResumed = Literal["OnPersonaResumed", "on_persona_resumed"]
OnBudgetThreshold = Literal["OnBudgetThreshold", "on_budget_threshold"]
PreFinish = Literal["PreFinish", "pre_finish"]
OnUnsettledDetected = Literal["OnUnsettledDetected", "on_unsettled_detected"]
PostFinish = Literal["PostFinish", "post_finish"]
