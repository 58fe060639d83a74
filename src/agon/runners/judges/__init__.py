"""Call models at their endpoints: Anthropic's Messages API, and OpenAI-compatible ones."""
