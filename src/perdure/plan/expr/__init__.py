"""The one syntax for values in a plan: `${…}` in texts, and bare CEL where a plan asks a question."""

from perdure.plan.expr.errors import ExpressionError
from perdure.plan.expr.expression import MAX_SOURCE, Expression, parse
from perdure.plan.expr.path import ROOTS, Reference
from perdure.plan.expr.template import Template, escaped, fill, fill_but, template, templates_in, texts_in

__all__ = [
    "MAX_SOURCE",
    "ROOTS",
    "Expression",
    "ExpressionError",
    "Reference",
    "Template",
    "escaped",
    "fill",
    "fill_but",
    "parse",
    "template",
    "templates_in",
    "texts_in",
]
