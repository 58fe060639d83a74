"""Model slugs: one normal form per model, never a substring."""

import pytest

from agon.disciplines.community.counts.models import ALIASES, likeness, slug, slugs
from agon.disciplines.community.rules import CommunityRules


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("gpt-4o", "gpt-4o"),
        ("GPT-4o", "gpt-4o"),
        ("GPT 4o", "gpt-4o"),
        ("gpt_4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("openrouter/openai/gpt-4o", "gpt-4o"),
        ("openai/GPT_4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-20240806", "gpt-4o"),
        (" gpt-4o ", "gpt-4o"),
        ("gpt-4o-mini", "gpt-4o-mini"),
        ("openai/gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("o1", "gpt-o1"),
        ("openai/o1-2024-12-17", "gpt-o1"),
        ("GPT-o1", "gpt-o1"),
        ("o1-mini", "o1-mini"),
        ("claude-sonnet-4.5", "claude-sonnet-4.5"),
        ("claude-4.5-sonnet", "claude-sonnet-4.5"),
        ("claude-sonnet-4-5", "claude-sonnet-4.5"),
        ("anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4.5"),
        ("Claude Sonnet 4.5", "claude-sonnet-4.5"),
        ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet"),
        ("Gemini 2.0 Flash", "gemini-2.0-flash"),
        ("google/gemini-2.0-flash-001", "gemini-2.0-flash"),
        ("gemini-2.0-flash-lite", "gemini-2.0-flash-lite"),
        ("google/gemini_2.0_pro", "gemini-2.0-pro"),
        ("deepseek/deepseek-chat-v3", "deepseek-v3"),
        ("DeepSeek V3", "deepseek-v3"),
        ("deepseek-v3.1", "deepseek-v3.1"),
        ("llama-3-70b-20241399", "llama-3-70b-20241399"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-1341", "gpt-4-1341"),
        ("openai/gpt-4o:free", "gpt-4o"),
        ("deepseek/deepseek-chat-v3-0324:nitro", "deepseek-v3"),
        ("claude-3-5-sonnet@20240620", "claude-3-5-sonnet"),
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet-v2"),
        ("claude-3-5-sonnet@2024-06-20", "claude-3-5-sonnet"),
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", "claude-3-5-sonnet"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4.5"),
        ("claude-3.5-sonnet-v1:0", "claude-3.5-sonnet"),
        ("GPT-4o (2024-08-06)", "gpt-4o"),
        ("gpt-4o(20240806)", "gpt-4o"),
        ("GPT 4o (mini)", "gpt-4o-(mini)"),
        ("llama3:8b", "llama3:8b"),
        ("llama3:latest", "llama3"),
        ("gemini-1.5-pro@001", "gemini-1.5-pro@001"),
        ("0324", "0324"),
        (":free", ":free"),
        ("model-12345678", "model-12345678"),
    ],
)
def test_a_slug_has_one_normal_form(given: str, normal: str) -> None:
    """Case, blanks, provider, date and known other names do not make another model."""
    assert slug(given) == normal


def test_the_normal_form_of_a_normal_form_is_itself() -> None:
    """Else a list of normal forms could not be compared with."""
    names = [*ALIASES.values(), *CommunityRules().sota_models]
    assert [slug(name) for name in names] == names


def test_several_names_of_one_model_are_one() -> None:
    """The rule `sota_models` may use any of them."""
    assert slugs(["o1", "gpt-o1", "openai/o1"]) == {"gpt-o1"}


@pytest.mark.parametrize(
    ("names", "similar"),
    [
        (("claude-3.5-sonnet", "claude-3-5-sonnet", "claude-sonnet-3.5"), True),
        (("gpt4o", "gpt-4o", "GPT_4.o"), True),
        (("gpt-4o", "gpt-4o-mini"), False),
        (("llama-3.1-70b", "llama-3-170b"), False),
        (("model-1", "model-11"), False),
    ],
)
def test_normal_forms_of_the_same_words_and_numbers_are_similar(
    names: tuple[str, ...], *, similar: bool
) -> None:
    """A finding names them; they stay several models, because a word can make the difference."""
    assert (len({likeness(slug(name)) for name in names}) == 1) == similar
