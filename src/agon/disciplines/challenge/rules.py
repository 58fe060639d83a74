"""Define the rules of the challenge: how evaluations become weights, epoch by epoch."""

from typing import Final, Literal

from agon.kernel.rules import Rules, rule

BOARDS: Final = ("weights", "submissions", "validators", "competitions")
"""The boards, the default first."""

_SEED = "document 001"
_PAGE = "challenge"
_MAX_RULE_VALUE = 10**9
_FAR = 10**15


class ChallengeRules(Rules):
    """The rules of one agent competition network, frozen.

    Every rule but those in :data:`NETWORK_RULES` may be set for a single competition, by a
    column of the same name in the table ``competitions``.

    Example:
        >>> ChallengeRules().override({"top_n": "3"}).top_n
        3
    """

    reward_source: Literal["exit_code", "reward_file", "both"] = rule(
        "exit_code",
        meaning="what makes a task run a pass: the exit code of tests/test.sh, its reward file, "
        "or both; it binds those who run tasks; scoring reads what they recorded",
        reason="The source document passes a task by its exit code alone; templates that exit 0 "
        "on failure need both.",
        source=f"{_SEED}, Test Execution",
    )
    agent_timeout: Literal["fail", "verify"] = rule(
        "fail",
        since="0.1",
        meaning="whether a task fails when the agent's time was up, or the tests judge what it "
        "left; it binds those who run tasks; scoring reads what they recorded",
        reason="The source document scores a timeout 0; Harbor lets the tests decide.",
        source=f"{_SEED}, Test Execution",
    )
    trial_details: Literal["organizers", "author", "public"] = rule(
        "organizers",
        since="0.1",
        meaning="who sees what happened in the trials of a submitted agent (steps, commands, "
        "outputs, what the tests printed): organizers alone, also who sent it, or everyone who may "
        "read the contest; scoring does not read it",
        reason="What agents and tests print may be the tasks and their answers themselves, which "
        "only the organizer can give away.",
        source=f"{_PAGE}, Running tasks",
    )
    duplicate_content: Literal["everywhere", "competition", "allowed"] = rule(
        "everywhere",
        meaning="where submissions with one content_hash are the same agent, so that only the "
        "earliest counts: in the whole network, within a competition, or nowhere",
        reason="The source document is silent; an agent is paid once, for its earliest "
        "submission in any competition.",
        source=f"{_PAGE}, step 1",
    )
    evaluation_window: int | None = rule(
        None,
        ge=1,
        le=_MAX_RULE_VALUE,
        meaning="for how many epochs an evaluation counts, its own included; none: until the "
        "validator evaluates the submission again",
        reason="The source document lets no evaluation expire.",
        source=f"{_PAGE}, step 1",
    )
    min_validators: int = rule(
        3,
        ge=1,
        le=_MAX_RULE_VALUE,
        meaning="how many validators must have reported before a submission has a score",
        reason="fewer cannot outvote a dishonest one",
        source=f"{_SEED}, Configuration Parameters",
    )
    zero_stake_counts: bool = rule(
        default=False,
        since="0.1",
        meaning="whether evaluations by validators without stake in the epoch count, for the "
        "quorum and among outliers",
        reason="The source document is silent; its minimum of validators means validators that "
        "can be outvoted, and identities without stake cost nothing.",
        source=f"{_SEED}, Configuration Parameters (Min Validators)",
    )
    outlier_threshold: float = rule(
        3.5,
        gt=0,
        le=_MAX_RULE_VALUE,
        meaning="the modified z-score above which, strictly, an evaluation is an outlier",
        reason="the customary cut for the modified z-score",
        source=f"{_SEED}, Outlier Threshold",
    )
    outlier_min_values: int = rule(
        3,
        ge=2,
        le=_MAX_RULE_VALUE,
        meaning="how many evaluations a submission needs before any of them can be an outlier",
        reason="The source document gives no least number; of two values that differ neither can "
        "be called the outlier.",
        source=f"{_PAGE}, step 3",
    )
    mad_when_zero: float = rule(
        0.01,
        gt=0,
        le=_MAX_RULE_VALUE,
        meaning="the MAD that is used when more than half of the evaluations are equal, so that "
        "the MAD itself is zero",
        reason="The source document divides by the MAD, which is 0 when most evaluations are "
        "equal; a hundredth separates 0.20 from 0.80 and lets 0.83 pass.",
        source=f"{_PAGE}, step 3",
    )
    outlier_weights: Literal["equal", "stake"] = rule(
        "equal",
        since="0.1",
        meaning="what an evaluation counts in the median and the MAD that outliers are measured "
        "by: each the same, or its validator's stake",
        reason="The source document's median counts each validator once, without its stake.",
        source=f"{_SEED}, Modified Z-Score",
    )
    exclude_outliers: bool = rule(
        default=True,
        meaning="whether an outlier's evaluation is left out of the mean, or only reported",
        reason="The source document flags outliers without saying what follows; a flag without "
        "effect would let one validator move the mean.",
        source=f"{_PAGE}, step 4",
    )
    min_stake_fraction: float = rule(
        0.30,
        ge=0,
        le=1,
        meaning="the minimum share of all registered stake behind the evaluations left",
        reason="a score is the network's opinion only when enough of the network gave it",
        source=f"{_SEED}, Configuration Parameters",
    )
    min_stake_of: Literal["submission", "validator"] = rule(
        "submission",
        since="0.1",
        meaning="what must have min_stake_fraction of all stake: the validators behind a "
        "submission together, or each validator whose evaluations count",
        reason="The source document asks for a percentage of stake to count; of each validator "
        "it would leave at most three that count.",
        source=f"{_SEED}, Configuration Parameters (Min Stake %)",
    )
    mean_over: Literal["included", "reported"] = rule(
        "included",
        since="0.1",
        meaning="by whose stake the mean is divided: of the validators that are left after "
        "outliers, or of all that reported",
        reason="The source document divides by the stake of those whose scores it adds; over all "
        "that reported, an outlier would count as a score of 0.",
        source=f"{_SEED}, Stake-Weighted Averaging",
    )
    strategy: Literal["linear", "winner_takes_all", "quadratic", "ranked"] = rule(
        "linear",
        meaning="how a competition's scores become its miners' shares",
        reason="the source document's default",
        source=f"{_SEED}, Weight Strategies",
    )
    top_n: int = rule(
        1,
        ge=1,
        le=_MAX_RULE_VALUE,
        meaning="how many miners share equally under winner_takes_all",
        reason="The source document leaves N open; the strategy's name suggests one winner.",
        source=f"{_SEED}, Winner Takes All",
    )
    ranked_zero: Literal["paid", "unpaid"] = rule(
        "paid",
        since="0.1",
        meaning="whether the strategy ranked pays miners whose score is 0: they are ranked and "
        "paid, or neither",
        reason="The source document's formula counts every rank; it does not say what a score of "
        "0 earns.",
        source=f"{_SEED}, Ranked",
    )
    improvement_threshold: float = rule(
        0.02,
        ge=0,
        le=10,
        meaning="by how much a new best must beat the top score to reset the decay",
        reason="a tiny gain is not progress; smaller steps add up, because the top score "
        "they are measured against stays",
        source=f"{_SEED}, Decay Reset",
    )
    improvement: Literal["relative", "absolute"] = rule(
        "relative",
        meaning="whether the threshold is a part of the top score or score points",
        reason="The source document gives the threshold in percent, so it is a part of the top "
        "score.",
        source=f"{_PAGE}, step 8",
    )
    improvement_by: Literal["new_agent", "any"] = rule(
        "new_agent",
        since="0.1",
        meaning="whose best score may reset the decay: that of a new agent, first evaluated after "
        "the top score was set by a validator whose evaluation counts, or that of any agent",
        reason="The source document's decay resets when a new agent beats the top score; a stake "
        "that moves, or the same agent measured again, is no progress.",
        source=f"{_SEED}, Decay Reset",
    )
    improvement_stake: float = rule(
        0.0,
        since="0.1",
        ge=0,
        le=1,
        meaning="the part of the stake behind a new best whose own evaluations must each improve "
        "on the top score as well",
        reason="The source document compares the mean alone.",
        source=f"{_SEED}, Decay Reset",
    )
    grace_epochs: int = rule(
        10,
        ge=0,
        le=_MAX_RULE_VALUE,
        meaning="how many epochs may pass without improvement before the burn begins",
        reason="progress takes time",
        source=f"{_SEED}, Decay Activation",
    )
    decay_curve: Literal["linear", "exponential"] = rule(
        "linear",
        meaning="how the burn grows with every stale epoch",
        reason="The source document offers two curves and names the linear one first.",
        source=f"{_SEED}, Decay Curves",
    )
    decay_rate: float = rule(
        0.05,
        ge=0,
        le=1,
        meaning="the part that begins to burn with each stale epoch",
        reason="the source document's default",
        source=f"{_SEED}, Configuration Parameters",
    )
    max_burn: float = rule(
        80.0,
        ge=0,
        le=100,
        meaning="the most that burns by decay, in percent",
        reason="someone who runs in a stale competition still earns something",
        source=f"{_SEED}, Configuration Parameters",
    )
    burn_application: Literal["scaled", "added"] = rule(
        "scaled",
        since="0.1",
        meaning="whether the miners share what the burn leaves, or keep their weights beside it, "
        "so that all weights sum to more than 1",
        reason="The source document gives UID 0 the burn and does not say that the miners pay "
        "it; weights that sum to 1 say what everyone gets.",
        source=f"{_SEED}, Burn Application",
    )
    weight_cap: float = rule(
        0.5,
        gt=0,
        le=1,
        meaning="the maximum share of all miners' weight for one miner",
        reason="The source document's half, of what the miners get together: the burn is no miner.",
        source=f"{_SEED}, Weight Cap",
    )
    cap_excess: Literal["redistribute", "burn", "drop"] = rule(
        "redistribute",
        meaning="where weight above the cap goes: to the miners below it in proportion, to UID 0, "
        "or nowhere",
        reason="The source document's bare minimum makes weight vanish; handed on, weights and "
        "burn still sum to 1.",
        source=f"{_PAGE}, step 10",
    )
    rounding: Literal["nearest", "largest_remainder"] = rule(
        "nearest",
        meaning="how weights become whole numbers of 65535: each to its nearest, or so that they "
        "sum to 65535",
        reason="The source document rounds each weight by itself; the sum may then differ from "
        "65535 by a few.",
        source=f"{_SEED}, Weight Normalization",
    )
    unregistered: Literal["exclude", "burn"] = rule(
        "exclude",
        since="0.1",
        meaning="what becomes of a submission whose hotkey holds no uid in the epoch: it has no "
        "score and the others share, or it is scored and its share burns",
        reason="A miner is a hotkey and a uid is a seat; who has left the network is not paid.",
        source="running-agents, 10",
    )
    top_of_departed: Literal["drop", "keep"] = rule(
        "drop",
        since="0.1",
        meaning="whether a top score whose hotkey holds no uid any more falls to the best score "
        "that is left, or stays; the decay goes on either way",
        reason="Else the score of an agent that is gone would have to be beaten for ever.",
        source="running-agents, 10",
    )
    burn_uid: int = rule(
        0,
        since="0.1",
        ge=0,
        le=65_535,
        meaning="the uid that receives what burns; the chain burns what the subnet's owner gets",
        reason="The source document burns to UID 0; on a subnet whose owner holds another uid "
        "that would pay a miner.",
        source=f"{_SEED}, Burn Application",
    )
    emission_total: float | None = rule(
        None,
        ge=0,
        le=_FAR,
        meaning="what the network pays out in an epoch, so that amounts can be shown; none: "
        "weights only",
        reason="Weights do not need it; amounts are shown once it is set.",
        source=f"{_SEED}, Multi-Competition Allocation",
    )
    epoch: int | None = rule(
        None,
        ge=-_FAR,
        le=_FAR,
        meaning="the epoch that is scored; none: the last one in the records",
        reason="The last epoch in the records is the current state of the network.",
        source=f"{_PAGE}, From evaluations to weights",
    )


NETWORK_RULES = frozenset(
    {
        "reward_source",
        "agent_timeout",
        "trial_details",
        "duplicate_content",
        "weight_cap",
        "cap_excess",
        "rounding",
        "unregistered",
        "burn_uid",
        "emission_total",
        "epoch",
    }
)
"""The rules that apply to the network; a competition cannot set them."""

COMPETITION_RULES = tuple(name for name in ChallengeRules.model_fields if name not in NETWORK_RULES)
"""The rules a competition may set for itself, in the order declared."""
