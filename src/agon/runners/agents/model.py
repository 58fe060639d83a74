"""The reference agent: a model at an endpoint proposes commands, the container runs them.

The model is called outside the container, which has no network. In each step the model replies
with one fenced block of shell commands; their output is its next message. The agent ends when a
reply says ``DONE`` and has no block, at the step limit, or at the time limit. It fails when the
model gives no reply that can be used. When a limit of its run is reached it ends without a score:
how much was left for it depended on the other trials.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import IO

from agon.app.containers import AgentOutcome, AgentStep, ContainerGone, Limits, Shell
from agon.app.tasks.agents import AgentEnvironment, AgentWork, Usage
from agon.app.tasks.preparation import NOT_BEGUN, after, as_agent, before
from agon.app.tasks.prices import TokenPrice
from agon.app.tasks.task import Task
from agon.errors import Unreadable
from agon.runners.agents.chat import Chat, DeadlineExceeded, ModelFailed
from agon.runners.agents.wire_formats import ChatReply

TRANSCRIPT = "transcript.ndjson"

_BLOCK = re.compile(r"^```[a-z]*[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_MAX_SHOWN_CHARACTERS = 10_000  # characters of a command's output that the model sees
_MAX_COMMAND_BYTES = 128_000  # Linux takes 131,072 as one argument
_MAX_REPLIES_CHARACTERS = 64 << 20  # of all replies in a trial

_SYSTEM = (
    "You solve a task in a Linux container, working in {workdir}. {network} Answer each "
    "time with one fenced block of shell commands to run with sh, like this:\n\n"
    "```sh\nls -l\n```\n\nYou then see what they print. Every block starts a new shell in "
    "{workdir}. When the task is solved, answer with the one word DONE and no block."
)
_NETWORKS = {
    "none": "There is no network.",
    "allowlist": "By the proxy that HTTPS_PROXY names you reach {hosts}, and no other host.",
    "public": "There is a network.",
}
_NOT_RUN = "The block was not run: it has {problem}. Send a shorter one of plain text."
_REMINDER = "There was no fenced block. Send one with commands to run, or DONE if all is done."


class ModelAgent:
    """An agent that solves tasks with a model.

    Args:
        chat: the model.
        steps: maximum number of replies in one trial.
        step_s: seconds that the commands of one step may take.
        price: the price by which cost is computed where the endpoint reports none.
    """

    def __init__(
        self, chat: Chat, *, steps: int = 50, step_s: float = 120.0, price: TokenPrice | None = None
    ) -> None:
        if steps < 1 or step_s <= 0:
            raise Unreadable("steps and step_s must be above 0; give at least one step")
        self._chat = chat
        self._steps = steps
        self._step_s = step_s
        self._price = price

    @property
    def name(self) -> str:
        """The protocol's name."""
        return self._chat.wire_format.name

    @property
    def settings(self) -> Mapping[str, str]:
        """Model, endpoint, limits and the hash of the agent's own messages; never the key."""
        return {
            "kind": self.name,
            "model": self._chat.model,
            "endpoint": self._chat.endpoint,
            "steps": str(self._steps),
            "step_s": f"{self._step_s:g}",
            "messages_sha256": sha256(
                "\n".join((_SYSTEM, _REMINDER, _NOT_RUN, *_NETWORKS.values())).encode()
            ).hexdigest(),
            **({"own_endpoint": "yes"} if self._chat.own else {}),
        }

    def missing_for(self, task: Task) -> str:  # noqa: ARG002 (the protocol's signature)
        """Return an empty text: it can work on every task."""
        return ""

    def work(self, task: Task, place: AgentEnvironment) -> AgentWork:
        """Send requests to the model and run its commands until it is done."""
        path = place.trial.folder / TRANSCRIPT
        with path.open("w", encoding="utf-8") as file:
            chat_log = _Conversation(self._chat, file, self._price, place.count)
            chat_log.limit = place.end()

            def drive_until_ended(shell: Shell) -> None:
                try:
                    until = _deadline(place.limits)
                    code = _run_beside(shell, before(task, place.image), until=until)
                    if code in NOT_BEGUN:
                        chat_log.end = ("failed", NOT_BEGUN[code])
                        chat_log.note(NOT_BEGUN[code])
                        return
                    self._drive(shell, chat_log, task, place, until=until)
                    _run_beside(shell, after(task, place.outputs), until=until)
                except ContainerGone:
                    chat_log.note("the container is gone")
                except DeadlineExceeded:
                    chat_log.end = ("timeout", "the time was up while the model was thinking")
                    chat_log.note("the time is up")
                except ModelFailed as failed:
                    chat_log.end = ("failed", str(failed))
                    chat_log.note(str(failed))
                except _LimitReached as reached:
                    chat_log.end = ("unscored", f"ended by the limit of its run: {reached}")
                    chat_log.note(f"the limit of the run is reached: {reached}")

            run = place.drive(drive_until_ended, variables=task.settings.agent_env)
        if chat_log.end and run.outcome == "finished":
            outcome, reason = chat_log.end
            run = replace(run, outcome=outcome, reason=reason, outputs=None)
        return AgentWork(run=run, usage=chat_log.usage, transcript=path)

    def _drive(
        self,
        shell: Shell,
        chat_log: "_Conversation",
        task: Task,
        place: AgentEnvironment,
        *,
        until: float,
    ) -> None:
        """Run the model's commands until it is done or the steps are used up."""
        egress = place.trial.egress
        network = _NETWORKS[egress.mode].format(hosts=", ".join(map(str, egress.hosts)))
        chat_log.send("system", _SYSTEM.format(workdir=place.image.workdir, network=network))
        chat_log.send("user", task.instruction)
        for _ in range(self._steps):
            if chat_log.limit:  # of an earlier step of the task, or another trial
                raise _LimitReached(chat_log.limit)
            command = _command(chat_log.receive(until=until))
            if command is None:
                return
            if chat_log.limit:
                raise _LimitReached(chat_log.limit)
            if not command:
                chat_log.send("user", _REMINDER)
            elif problem := _problem(command):
                chat_log.send("user", _NOT_RUN.format(problem=problem))
            else:
                done = shell.execute(as_agent(task, ("sh", "-c", command)), timeout_s=self._step_s)
                chat_log.steps += 1
                chat_log.send("user", _observation(done))
        chat_log.note(f"its {self._steps} steps are used up")


class _LimitReached(Exception):
    """A limit of the run is reached, so that no model may be called any more."""


class _Conversation:
    """A conversation with a model, written to the transcript and counted as it happens.

    Attributes:
        limit: why the model may not be called again; empty: it may.
    """

    def __init__(
        self,
        chat: Chat,
        file: IO[str],
        price: TokenPrice | None,
        count: Callable[[Usage], str],
    ) -> None:
        self._chat = chat
        self._file = file
        self._price = price
        self._count = count
        self.limit = ""
        self._messages: list[dict[str, str]] = []
        self._replies: list[ChatReply] = []
        self.steps = 0
        self.end: tuple[AgentOutcome, str] | None = None

    def send(self, role: str, text: str) -> None:
        self._messages.append({"role": role, "content": text})
        self._write(role=role, content=text)

    def receive(self, *, until: float) -> str:
        reply = self._chat.ask(self._messages, until=until)
        self._replies.append(reply)
        self.limit = self._count(self._usage((reply,)))
        if sum(len(each.text) for each in self._replies) > _MAX_REPLIES_CHARACTERS:
            raise ModelFailed(f"the model's replies exceed {_MAX_REPLIES_CHARACTERS:,} characters")
        self._messages.append({"role": "assistant", "content": reply.text})
        self._write(
            role="assistant",
            content=reply.text,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cached_tokens=reply.cached_tokens,
        )
        return reply.text

    def note(self, text: str) -> None:
        self._write(role="note", content=text)

    @property
    def usage(self) -> Usage:
        return replace(self._usage(self._replies), steps=self.steps)

    def _usage(self, replies: Sequence[ChatReply]) -> Usage:
        """Return what replies used, at the cost that the endpoint reports or by the price."""
        used = Usage(
            input_tokens=sum(reply.input_tokens for reply in replies),
            output_tokens=sum(reply.output_tokens for reply in replies),
            cached_tokens=sum(reply.cached_tokens for reply in replies),
        )
        costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
        if costs:
            return replace(used, cost_usd=sum(costs))
        return used if self._price is None else self._price.with_cost(used)

    def _write(self, **line: str | int) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def _run_beside(shell: Shell, script: str, *, until: float) -> int:
    """Run what the task says to run before or after the agent, within its time."""
    if not script:
        return 0
    remaining_s = max(1.0, until - time.monotonic())
    return shell.execute(("sh", "-c", script), timeout_s=remaining_s).exit_code


def _deadline(limits: Limits) -> float:
    return time.monotonic() + limits.timeout_s


def _command(answer: str) -> str | None:
    r"""Return the first block of an answer; empty when there is none, None when all is done.

    Example:
        >>> _command("I look first.\n```sh\nls -l\n```\n"), _command("DONE"), _command("Hm.")
        ('ls -l\n', None, '')
    """
    if match := _BLOCK.search(answer):
        return match[1]
    return None if re.search(r"\bDONE\b", answer) else ""


def _problem(command: str) -> str:
    """Return why a kernel cannot run a command; empty when it can."""
    try:
        size = len(command.encode())
    except UnicodeEncodeError:
        return "characters that are no text"
    if "\0" in command:
        return "a zero byte"
    return f"{size:,} bytes" if size > _MAX_COMMAND_BYTES else ""


def _observation(done: AgentStep) -> str:
    """Return the result of a command, as the next message to the model."""
    parts = [f"exit code {done.exit_code}"]
    if done.timed_out:
        parts.append("(time was up)")
    for name, content in (("stdout", done.stdout), ("stderr", done.stderr)):
        text = content.decode(errors="replace")
        if len(text) > _MAX_SHOWN_CHARACTERS:
            half = _MAX_SHOWN_CHARACTERS // 2
            text = f"{text[:half]}\n… {len(text) - 2 * half:,} characters …\n{text[-half:]}"
        if text.strip():
            parts.append(f"{name}:\n{text}")
    return "\n".join(parts)
