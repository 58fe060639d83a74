"""Prompts to begin with, where an organizer has none yet."""

from typing import Final

PROMPTS: Final = (
    "What did you have for breakfast, and was it any good?",
    "Describe the street you grew up in.",
    "What is a small thing that annoys you every day?",
    "You find ten euros on the pavement. What now?",
    "Which film did you stop watching half way, and why?",
    "What would you do with a free afternoon in a city that you don't know?",
    "What is the best excuse you ever used?",
    "Which smell reminds you of school?",
    "What do you always forget when you pack?",
    "Explain to a child why the sky gets dark.",
    "What was the last thing that made you laugh out loud?",
    "Your neighbor's dog barks all night. What do you write on the note?",
)
