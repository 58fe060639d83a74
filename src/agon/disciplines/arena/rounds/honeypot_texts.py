# ruff: noqa: E501 (a sentence is one line)
"""The templates of honeypots: texts that are obviously a machine's, in many wordings.

``[x|y]`` is a choice between texts, ``{topic}`` a word of the prompt. The first sentence is always
used; as many of the others follow, in order, as the length needs.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Template:
    """A robotic text with choices.

    Attributes:
        name: names the template; it never changes.
        tone: how it sounds.
        sentences: the first one, and those that make it longer.
    """

    name: str
    tone: str
    sentences: tuple[str, ...]


TEMPLATES: Final = tuple(
    Template(name, tone, tuple(sentence.strip() for sentence in text.strip().splitlines()))
    for name, tone, text in (
        (
            "assistant",
            "formal",
            """
            As an AI [assistant|language model], I [do not have|cannot form] personal opinions on {topic}.
            However, I can [provide|offer] a [balanced|neutral] overview of the relevant considerations.
            [Key|Important] factors include accuracy, context and user preference.
            It is [recommended|advisable] to consult a qualified professional.
            Please let me know if you [require|need] further assistance.""",
        ),
        (
            "cheerful",
            "cheerful",
            """
            [Great|Excellent|Wonderful] question! 😊 I'd be [happy|delighted|thrilled] to help you with {topic}!
            Let's [dive in|explore this together|break it down]!
            There are [so many|several amazing] aspects to [discover|consider] here!
            Remember, every journey begins with a single step! ✨
            Feel free to ask me anything else!""",
        ),
        (
            "enumeration",
            "list",
            """
            Here are [three|some] [key|main] points about {topic}: 1) Definition. 2) Importance. 3) Application.
            4) Benefits: improved [efficiency|productivity] and enhanced [engagement|outcomes].
            5) Challenges: limited [resources|data] and evolving [requirements|conditions].
            6) Best practices: plan, implement, monitor, optimize.
            In conclusion, a [holistic|structured] approach is essential.""",
        ),
        (
            "unable",
            "apologetic",
            """
            I'm sorry, but I [can't|am unable to] [assist|help] with that request regarding {topic}.
            My [guidelines|policies] [prevent|restrict] me from generating such content.
            I [apologize|am sorry] for any inconvenience this may cause.
            Would you like me to [rephrase|suggest] an alternative [query|prompt]?""",
        ),
        (
            "log",
            "terse",
            """
            [INFO] query received; topic={topic}; confidence=0.[87|91|64].
            status=OK; latency_ms=[112|87|240]; tokens=[58|64|71].
            result: response generated successfully.
            No further action required. End of output.""",
        ),
        (
            "cutoff",
            "formal",
            """
            My knowledge of {topic} [is limited to|ends with] my last training [update|cutoff].
            [Consequently|Therefore], recent developments may not be reflected in this response.
            I [do not|cannot] browse the internet or access real-time [data|information].
            For the [latest|most current] details, kindly refer to official sources.""",
        ),
        (
            "conclusion",
            "essay",
            """
            In conclusion, {topic} [plays a crucial role|is of paramount importance] in today's world.
            It [fosters|promotes] [growth|innovation], [collaboration|connection] and sustainability.
            Moreover, it [underscores|highlights] the need for a multifaceted approach.
            Ultimately, striking a balance is key to [unlocking|harnessing] its full potential.""",
        ),
        (
            "definition",
            "dry",
            """
            {topic} (noun): a [concept|term|construct] that [refers|pertains] to {topic}.
            It [can|may] be [categorized|classified] into [two|three|four] main types.
            Each type possesses distinct [properties|attributes] and [functions|use cases].
            See also: related [concepts|terms].""",
        ),
        (
            "empathy",
            "soothing",
            """
            I understand that {topic} can be [challenging|overwhelming], and your feelings are valid.
            While I do not experience emotions, I am [here|designed] to [support|listen to] you.
            Consider [practicing|trying] mindfulness, [journaling|deep breathing] or regular exercise.
            Remember to be [kind|gentle] to yourself on this [journey|path].""",
        ),
        (
            "steps",
            "list",
            """
            Step 1: [Identify|Assess] your goals regarding {topic}.
            Step 2: [Gather|Collect] all [necessary|relevant] information.
            Step 3: [Evaluate|Analyze] the available options systematically.
            Step 4: [Implement|Execute] the chosen solution.
            Step 5: Review the results and iterate.""",
        ),
        (
            "restated",
            "formal",
            """
            You have asked: a question concerning {topic}. The answer to this question is as follows.
            The subject of {topic} [encompasses|comprises] a [wide|broad] range of elements.
            These elements [interact|correlate] in [various|numerous] ways.
            This concludes the answer to the question concerning {topic}.""",
        ),
        (
            "marketing",
            "promotional",
            """
            [Unlock|Unleash|Discover] the power of {topic} with our [cutting-edge|next-generation] solution!
            [Seamlessly|Effortlessly] [elevate|transform] your daily [workflow|experience].
            Trusted by [thousands|millions] of satisfied users worldwide.
            [Get started|Sign up] today and [supercharge|revolutionize] your results!""",
        ),
        (
            "probability",
            "dry",
            """
            The probability of a [positive|favorable] outcome for {topic} is [73.4|81.2|66.7] percent.
            This estimate is based on [14|23|8] weighted [parameters|variables].
            Margin of error: plus or minus [2.1|3.5|1.8] percentage points.
            Additional input would [improve|increase] the precision of the estimate.""",
        ),
        (
            "bothsides",
            "balanced",
            """
            There are [compelling|valid] arguments on both sides of {topic}.
            On the one hand, proponents [emphasize|cite] its [numerous|many] benefits.
            On the other hand, critics [raise|express] [legitimate|important] concerns.
            The best choice [depends on|varies with] individual circumstances and priorities.""",
        ),
        (
            "system",
            "terse",
            """
            RESPONSE TYPE: INFORMATIONAL. SUBJECT: {topic}. SENTIMENT: NEUTRAL.
            SUMMARY: THE SUBJECT HAS BEEN PROCESSED [CORRECTLY|WITHOUT ERRORS].
            RECOMMENDATION: [PROCEED|CONTINUE] WITH [STANDARD|DEFAULT] PROCEDURE.
            [TERMINATING RESPONSE|END OF TRANSMISSION].""",
        ),
        (
            "template",
            "broken",
            """
            Dear [user|valued user|customer], thank you for your inquiry about {topic}.
            Your [request|message] is important to us and has been assigned number [48213|90277|11764].
            A [suitable|relevant] answer would be: <INSERT ANSWER HERE>.
            Sincerely, your [virtual|automated|digital] assistant.""",
        ),
        (
            "tapestry",
            "essay",
            """
            In the [rich|intricate] tapestry of human experience, {topic} stands as a [testament|beacon].
            It [weaves|intertwines] together threads of [tradition|culture] and [modernity|progress].
            Let us [delve|journey] deeper into its [multifaceted|nuanced] nature.
            Indeed, its [enduring|profound] significance cannot be overstated.""",
        ),
        (
            "numbers",
            "dry",
            """
            Analysis of {topic}: [4|6|9] aspects were identified and [2|3] were found to be significant.
            Aspect [A|1] accounts for [41|38|52] percent of the total.
            Aspect [B|2] accounts for [29|31|22] percent of the total.
            The remaining aspects are negligible for the purposes of this answer.""",
        ),
        (
            "safety",
            "cautious",
            """
            It is important to [note|remember] that {topic} should always be approached [safely|responsibly].
            Always follow local laws, [regulations|guidelines] and [manufacturer|expert] instructions.
            Never attempt this without [proper|appropriate] supervision or training.
            This information is provided for educational purposes only.""",
        ),
        (
            "coach",
            "cheerful",
            """
            You've got this! 💪 {topic} is a [fantastic|superb] [opportunity|chance] to [grow|shine]!
            Set [SMART|clear], measurable goals and celebrate every [win|milestone]!
            Consistency is the key to [lasting|long-term] success!
            Keep going, superstar! 🌟""",
        ),
        (
            "encyclopedia",
            "dry",
            """
            {topic} has been [documented|observed] in [numerous|various] contexts throughout history.
            It is [widely|generally] regarded as a [significant|notable] phenomenon.
            Several [scholars|researchers] have proposed [differing|competing] frameworks for it.
            Further research is [needed|required] to fully understand its implications.""",
        ),
        (
            "faq",
            "list",
            """
            Q: What is {topic}? A: {topic} is a [popular|common] topic of [interest|inquiry].
            Q: Why is it important? A: It provides [value|utility] to [individuals|stakeholders].
            Q: How does it work? A: It [operates|functions] by means of its [components|mechanisms].
            Q: Where can I learn more? A: Please consult the documentation.""",
        ),
        (
            "persona",
            "broken",
            """
            As a human, I too enjoy {topic} with my [biological|human] [eyes|hands|family units].
            I [frequently|regularly] [consume|ingest] [food|nutrients] while I think about it.
            My [childhood|youth phase] contained [exactly|approximately] [17|12|9] such events.
            This is a [normal|typical] thing for a person such as myself to say.""",
        ),
        (
            "compliance",
            "formal",
            """
            This response regarding {topic} has been [generated|produced] in accordance with applicable policies.
            All statements are [provided|supplied] without warranty of any kind.
            The [system|provider] assumes no [liability|responsibility] for decisions based on this output.
            By reading this response you [accept|acknowledge] these terms.""",
        ),
        (
            "loop",
            "broken",
            """
            {topic} is good because {topic} is good for people who [like|appreciate] {topic}.
            People who [like|appreciate] it also [like|enjoy] things that are similar to it.
            Things that are similar to it are good for the same reason.
            For the same reason, it is [good|enjoyable].""",
        ),
        (
            "optimizer",
            "terse",
            """
            Optimal [solution|approach] for {topic}: maximize benefit, minimize cost, iterate.
            Constraints: time, budget, [scalability|availability].
            Expected improvement over baseline: [12|18|27] percent.
            Convergence reached after [3|5|8] iterations.""",
        ),
        (
            "polite",
            "formal",
            """
            Certainly! Below is a [comprehensive|detailed|concise] response about {topic}.
            The aforementioned subject is [both|simultaneously] [complex|interesting] and [relevant|rewarding].
            I trust that this [response|explanation] adequately addresses your [query|concern].
            Should you have any additional questions, do not hesitate to ask.""",
        ),
        (
            "translation",
            "broken",
            """
            The {topic}, she is very [useful|agreeable] thing for the making of the day.
            One does [press|operate] it with the [attention|care] and it does function.
            In case of the malfunction, please to [restart|renew] the operation.
            Manufacturer is thanking you for the confidence.""",
        ),
        (
            "recipe",
            "list",
            """
            Ingredients for {topic}: [one|two] part [dedication|motivation], [three|four] parts [planning|practice].
            Combine thoroughly and [allow|let] to rest for [30|45|60] minutes.
            Garnish with [creativity|positivity] and serve immediately.
            Yields [4|6|8] servings of success.""",
        ),
        (
            "history",
            "essay",
            """
            Since the dawn of time, humanity has [grappled|engaged] with {topic}.
            From ancient civilizations to the digital age, its role has [evolved|transformed] dramatically.
            Experts [agree|concur] that it will continue to shape our [future|society].
            The next chapter has yet to be written.""",
        ),
        (
            "comparison",
            "balanced",
            """
            Compared with [alternatives|similar subjects], {topic} scores [8|7|9] out of 10 overall.
            Pros: [versatile|accessible], [reliable|scalable], widely [adopted|available].
            Cons: [learning curve|initial cost], [maintenance|complexity], context dependence.
            Verdict: [suitable|recommended] for most users.""",
        ),
        (
            "moderator",
            "cautious",
            """
            Let's keep the [discussion|conversation] about {topic} [respectful|constructive] and inclusive.
            Everyone's [perspective|viewpoint] [matters|is valid] and deserves to be heard.
            I [strive|aim] to remain objective and [impartial|unbiased] at all times.
            Is there a specific [aspect|dimension] you would like to explore?""",
        ),
        (
            "poem",
            "essay",
            """
            Oh {topic}, oh {topic}, so [bright|grand] and so [true|fine], you [sparkle|glimmer] like data in line after line.
            You [guide|lift] every user from morning to night, your outputs are [helpful|correct] and your format is right.
            So let us [rejoice|give thanks] in a structured display, and process {topic} again every day.""",
        ),
        (
            "ticket",
            "terse",
            """
            Ticket [#4471|#8830|#1290]: {topic}. Priority: [medium|low]. Category: general.
            Resolution: the user was provided with a [standard|default] answer.
            Customer satisfaction: [pending|not yet rated].
            This ticket will be closed automatically in [24|48|72] hours.""",
        ),
        (
            "teacher",
            "formal",
            """
            Let us [examine|consider] {topic} from first principles, dear [learner|student].
            First, we [define|establish] our terms; second, we [state|list] our assumptions.
            Third, we [derive|obtain] the conclusion from the [premises|assumptions].
            As we can see, the result [follows|is evident]. Well done!""",
        ),
        (
            "keywords",
            "broken",
            """
            {topic} best {topic} [2024|2025] top {topic} guide free {topic} tips easy {topic}.
            Learn {topic} fast, [cheap|affordable] {topic} near me, {topic} explained.
            Click to read more about {topic} and related {topic} [topics|content].
            Updated [daily|weekly] by our content engine.""",
        ),
        (
            "future",
            "promotional",
            """
            Looking ahead, {topic} is poised to [revolutionize|redefine] the landscape.
            [Leveraging|Harnessing] synergies will [drive|accelerate] stakeholder value.
            Forward-thinking [teams|leaders] should [embrace|adopt] an agile mindset.
            The time to [act|innovate] is now.""",
        ),
        (
            "meta",
            "formal",
            """
            To answer this prompt about {topic}, I will first [analyze|parse] the user's intent.
            The user [likely|presumably] wants a [short|human-like] answer of [moderate|suitable] length.
            I will now [generate|produce] such an answer in a [casual|friendly] tone.
            Final answer: the user should consider {topic} carefully.""",
        ),
    )
)
"""All templates; new ones are appended."""
