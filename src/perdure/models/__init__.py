"""Language models: one call of one model, whoever provides it. What is heavy is loaded when a model is first asked."""

from perdure.models.performing import ModelPerformer
from perdure.models.tiers import TIERS, Models, NoModel

__all__ = ["TIERS", "ModelPerformer", "Models", "NoModel"]
