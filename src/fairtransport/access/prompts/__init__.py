"""Language models behind prompts: templates with columns in them, answers read from replies."""

from fairtransport.access.prompts.prompt_files import read_prompt
from fairtransport.access.prompts.prompting import Prompt, prompt

__all__ = ["Prompt", "prompt", "read_prompt"]
