"""An explanation that knows the rules it was computed under, and so can be drawn."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agon.kernel.explanations import Explanation

if TYPE_CHECKING:
    from agon.app.charts import Chart


@dataclass(frozen=True, repr=False)
class ScoreExplanation(Explanation):
    """The explanation of a score, with the rules in force.

    Attributes:
        rules_title: the edition and the overrides in force, as headings name them.
    """

    rules_title: str = ""

    def plot(self) -> "Chart":
        """Return the score as a waterfall: a bar for each part.

        Example:
            >>> from agon.app.analysis.score import score
            >>> why = score("community", "examples/tutorial").explain("ada")
            >>> "Why ada has this score" in why.plot().svg
            True
        """
        from agon.app.charts import Chart, waterfall

        return Chart(waterfall(self, under=self.rules_title))
