"""Set the dojo's rules: gates, bonuses, payload policy, tags (document 002)."""

from typing import Literal, Self

from agon.disciplines.dojo.modules import SEED_MODULES, Module
from agon.kernel.rules import Rules, rule

_SEED = "document 002, Appendix: Recommended Defaults"
_CONTEST_FEEDBACK = "gate"
_CONTEST_SUBMISSIONS = 100
_SPEC_GATES = "dojo page, Gates, policy and score"


class DojoRules(Rules):
    """Every rule of the dojo."""

    n_check: int = rule(
        200,
        meaning="Terms a program has to return on a problem without its own number.",
        reason="The season's setting.",
        source=_SEED,
        ge=2,
        le=100_000,
    )
    stage_base: int = rule(
        200,
        meaning="Points for a stage pass that is not reward correct.",
        reason="Getting half way is worth something, far less than all the way.",
        source=_SEED,
        ge=0,
        le=1_000_000,
    )
    reward_base: int = rule(
        1000,
        meaning="Points for a reward-correct submission before bonuses.",
        reason="Correctness outweighs every bonus.",
        source=_SEED,
        ge=0,
        le=1_000_000,
    )
    brevity_max: int = rule(
        200,
        meaning="Largest brevity bonus, B_max.",
        reason="Among correct programs the shorter ranks higher, within a bounded bonus.",
        source=_SEED,
        ge=0,
        le=1_000_000,
    )
    brevity_beta: float = rule(
        1 / 800,
        meaning="Decay of the brevity bonus per byte of canonical source, beta.",
        reason="Around 800 bytes the bonus has fallen to 1/e.",
        source=_SEED,
        ge=0,
        le=1,
    )
    max_numeric_literals: int = rule(
        120,
        meaning="Maximum number of numeric literals in a program; more are rejected.",
        reason="Small constants are fine, tables of answers are not.",
        source="document 002, 3.2 Payload thresholds",
        ge=0,
        le=1_000_000,
    )
    max_string_literal_chars: int = rule(
        2000,
        meaning="Maximum number of characters in all string literals together; more are rejected.",
        reason="A string is a table in disguise.",
        source="document 002, 3.2 Payload thresholds",
        ge=0,
        le=10_000_000,
    )
    max_list_tuple_elements: int = rule(
        400,
        meaning="Maximum number of elements in a list or tuple literal; more are rejected.",
        reason="The most direct form of an embedded table.",
        source="document 002, 3.2 Payload thresholds",
        ge=0,
        le=1_000_000,
    )
    max_literal_digits: int | None = rule(
        None,
        meaning="Maximum number of digits of an integer literal; more are rejected. None: any.",
        reason="The original rules have no limit; one huge integer can encode any table, which "
        "is reported as a finding.",
        source=_SPEC_GATES,
        ge=1,
        le=1_000_000,
    )
    max_information_bytes: int | None = rule(
        None,
        meaning="Maximum number of bytes of names and digits in a program; more are rejected. "
        "None: any. Digits count as written; a distinct name counts once, and half where it "
        "occurs again.",
        reason="The source document counts literals only; names can hold a table as well, which "
        "is reported as a finding.",
        source="issue 10, 9 Answer tables",
        since="0.1",
        ge=1,
        le=1_000_000,
    )
    max_string_bytes: int | None = rule(
        None,
        meaning="Maximum number of bytes in all string literals together, text in UTF-8; more are "
        "rejected. None: any.",
        reason="The source document counts characters, and one character can hold twenty bits of "
        "a table.",
        source="issue 30, 20 Tables in one string",
        since="0.1",
        ge=0,
        le=10_000_000,
    )
    max_source_bytes: int = rule(
        65_536,
        meaning="Longest canonical source that is read at all; a longer one is a syntax error.",
        reason="The source document sets no limit; so long a source scores nothing and only "
        "loads the judge.",
        source="dojo page, The sandbox",
        ge=1_000,
        le=16_777_216,
    )
    max_syntax_depth: int = rule(
        300,
        meaning="Deepest nesting of brackets and syntax that is read; deeper is a syntax error.",
        reason="The source document sets no limit; far above what programs need, far below what "
        "parsers bear.",
        source="dojo page, The sandbox",
        ge=20,
        le=500,
    )
    diversity: bool = rule(
        default=True,
        meaning="Whether the diversity bonus is awarded.",
        reason="The source document gives it and allows to switch it off.",
        source="document 002, 6 Diversity Bonus (Optional)",
    )
    diversity_first_tag_bonus: int = rule(
        30,
        meaning="Points for the first reward-correct submission of each method tag.",
        reason="A new derivation is worth more than another copy of a known one.",
        source="document 002, 6.2 Bonus rule",
        ge=0,
        le=1_000_000,
    )
    diversity_shared_bonus_each: int = rule(
        10,
        meaning="Points of one shared bonus.",
        reason="Independent agreement makes a result more credible for all.",
        source="document 002, 6.2 Bonus rule",
        ge=0,
        le=1_000_000,
    )
    diversity_shared_bonus_repeats: int = rule(
        2,
        meaning="Number of shared bonuses each entry gets once two distinct tags agree.",
        reason="The source document gives two of ten.",
        source="document 002, 6.2 Bonus rule",
        ge=0,
        le=100,
    )
    diversity_bonus_cap: int = rule(
        50,
        meaning="Most diversity points of one submission.",
        reason="Diversity stays smaller than correctness and brevity.",
        source="document 002, 6.2 Bonus rule",
        ge=0,
        le=1_000_000,
    )
    max_method_tag_chars: int = rule(
        64,
        meaning="Longest method tag; a longer one counts as unspecified.",
        reason="The source document's implementation default.",
        source="document 002, 6.1 Method tag",
        ge=1,
        le=10_000,
    )
    unspecified_tag: Literal["counts", "ignored"] = rule(
        "counts",
        meaning="Whether `unspecified` is a tag like any other in the diversity bonus.",
        reason="The source document's rule counts distinct tags and makes no exception for a "
        "missing one.",
        source=_SPEC_GATES,
    )
    tags_per_user: Literal["each", "first"] = rule(
        "each",
        meaning="Which submissions of a user to a problem can be the first of a tag: the earliest "
        "one of `each` tag, or only the `first` reward-correct one.",
        reason="The source document counts each tag of a user once and limits their number by "
        "nothing.",
        source="document 002, 6.4; attack page, Hardened editions",
        since="0.1",
    )
    require_notes: bool = rule(
        default=False,
        meaning="Whether a declared tag counts only with non-empty notes.",
        reason="The source document lists it among mitigations a platform should consider; notes "
        "are optional in it.",
        source="document 002, 6.3 Notes",
    )
    tag_conflict: Literal["keep", "ignore"] = rule(
        "keep",
        meaning="What becomes of a tag that the classifier strongly contradicts; ignored ones "
        "count as unspecified.",
        reason="The source document lets the platform ignore a contradicted tag; read literally, "
        "it is kept.",
        source="document 002, 6.1 Method tag",
    )
    setter_on_own_problem: Literal["unscored", "scored"] = rule(
        "unscored",
        meaning="Whether the setter of a problem can score on it.",
        reason="The source document is silent; a setter knows the hidden terms and cannot "
        "compete on them.",
        source=_SPEC_GATES,
    )
    after_freeze: Literal["unscored", "scored"] = rule(
        "unscored",
        meaning="What becomes of a submission created after the problem froze; one that is scored "
        "gets no diversity bonus.",
        reason="The source document closes statistics at the freeze; a later submission could "
        "copy what was revealed.",
        source="dojo page, Lifecycle",
    )
    feedback: Literal["gate", "terms"] | None = rule(
        None,
        meaning="What is disclosed of a verdict while a problem takes submissions: `gate`, which "
        "gates were passed; `terms`, how many first terms are right as well. None: `gate` in a "
        "contest of the service, `terms` in a folder.",
        reason="A count of right first terms lets a solver read a sequence of bits off, one term "
        "with each submission.",
        source="dojo page, Programs",
        since="0.1",
    )
    max_submissions: int | None = rule(
        None,
        meaning="Maximum number of submissions of a user to a problem; a `sandbox_error` is not "
        "counted, nor what is refused without a run. None: 100 in a contest of the service, any "
        "number in a folder.",
        reason="Every verdict reveals something of the hidden terms; a hundred tries are more "
        "than people need and far fewer than a search does.",
        source="issue 10, 8 The verdict gives the answer away",
        since="0.1",
        ge=1,
        le=1_000_000,
    )
    exact_integers: bool = rule(
        default=False,
        meaning="Whether a solver's terms may be exact integers of other types than `int`, such "
        "as `sympy.Integer`; never a bool. It counts when a program is judged.",
        reason="sympy returns its own integers; the source document asks for `int`.",
        source="issue 10, 10; dojo page, Programs",
        since="0.1",
    )

    allowed_modules: tuple[Module, ...] = rule(
        SEED_MODULES,
        meaning="Modules that a solver may import, with their submodules. It counts when a program "
        "is judged; a setter may import any that this rule can name.",
        reason="The platform's list in the source document.",
        source="document 002, 1.1; dojo page, What participants must be able to read and do",
        since="0.1",
    )
    recursion_limit: int = rule(
        1000,
        meaning="How deep a solver's calls may be nested. It counts when a program is judged.",
        reason="Python's own limit; a program that calls deeper needs a loop.",
        source="dojo page, What participants must be able to read and do",
        since="0.1",
        ge=100,
        le=10_000,
    )
    tag_spelling: Literal["exact", "folded"] = rule(
        "exact",
        meaning="Whether method tags are compared as written, or `folded`: without case, outer "
        "blanks, and differences between `-`, `_` and blanks.",
        reason="The source document compares tags as they are declared; a finding names those "
        "that folding would merge.",
        source="records page, 9",
        since="0.1",
    )

    def in_contest(self) -> Self:
        """Return the rules with the values that a contest of the service has for none.

        Example:
            >>> DojoRules().in_contest().feedback, DojoRules(feedback="terms").in_contest().feedback
            ('gate', 'terms')
        """
        chosen: dict[str, object] = {}
        if self.feedback is None:
            chosen["feedback"] = _CONTEST_FEEDBACK
        if self.max_submissions is None:
            chosen["max_submissions"] = _CONTEST_SUBMISSIONS
        return self.model_copy(update=chosen)
