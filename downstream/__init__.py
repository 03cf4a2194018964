"""hookline beside the published core of Gemini CLI: the same settings and scripts, side by side. See README.md."""
