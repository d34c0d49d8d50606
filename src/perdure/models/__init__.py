"""Language models: one call of one model, whoever provides it. What is heavy is loaded when a model is first asked."""

from perdure.models.errors import NoKey, NoModel, NotNamed
from perdure.models.performing import ModelPerformer
from perdure.models.tiers import TIERS, Models

__all__ = ["TIERS", "ModelPerformer", "Models", "NoKey", "NoModel", "NotNamed"]
