"""Tools for tests of planners: a shop with customers, invoices and mail, of which nothing is ever called."""

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from perdure import tool


def _object(**fields):
    known = {name: {"type": kind} for name, kind in fields.items()}
    return Annotated[dict[str, Any], WithJsonSchema({"type": "object", "properties": known})]


@tool(name="customers.find", repeat="safe", effects=["reads"])
def find(name: str) -> _object(customer_id="string", name="string"):
    """Find a customer by name."""


@tool(name="invoice.send", effects=["irreversible"])
def send(customer_id: str, amount: float) -> None:
    """Send an invoice to a customer."""


@tool(name="weather.current", repeat="safe", effects=["network"], skills=["weather"])
def current(city: str, unit: Literal["metric", "imperial"] = "metric") -> _object(degrees="number", sky="string"):
    """The weather of a city, now."""


@tool(name="meteo.now", repeat="safe", effects=["network"], skills=["weather"])
def now(city: str) -> _object(degrees="number"):
    """The weather of a city from somewhere else."""


@tool(name="sky.look", repeat="safe", effects=["network"], skills=["weather"])
def look(latitude: float, longitude: float) -> _object(degrees="number"):
    """The weather of a place."""


@tool(name="weather.archive", effects=["network", "writes"], skills=["weather"])
def archive(city: str) -> _object(degrees="number"):
    """Fetch the weather of a city and keep it."""


@tool(name="heating.set", effects=["irreversible"])
def heat(degrees: float) -> None:
    """Set the heating to some degrees."""


@tool(name="timer.set", repeat="safe", effects=[])
def timer(minutes: Annotated[int, Field(ge=1)]) -> _object(timer_id="string"):
    """Set a timer."""


@tool(name="mail.send", effects=["irreversible"])
def mail(to: Annotated[str, Field(json_schema_extra={"format": "email"})], text: str, api_key: str) -> None:
    """Send a mail."""


@tool(name="orders.list", repeat="safe", effects=["reads"])
def orders(customer_id: str, since: Annotated[str, Field(json_schema_extra={"format": "date"})] = "") -> list[str]:
    """List the orders of a customer."""


@tool(name="key.find", repeat="safe", effects=[])
def key(lock: str) -> _object(key="string"):
    """Find the key of a lock."""


@tool(name="lock.open", repeat="safe", effects=[])
def unlock(key: str) -> _object(lock="string"):
    """Open a lock with its key."""


SHOP = {each.name: each for each in (find, send, current, now, look, archive, heat, timer, mail, orders, key, unlock)}
