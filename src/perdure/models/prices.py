"""What calls cost, by the list of prices that comes with the library. What is not in it costs nobody knows what."""

from typing import Final

from genai_prices import Usage, calc_price

from perdure.models.places import Place

PER_MILLION: Final = 1_000_000


def price_of(place: Place, model: str, tokens_in: int, tokens_out: int, cached: int = 0) -> float | None:
    """US dollars; None: nobody knows. A server on this machine costs nothing: nobody sends a bill."""
    if place.is_here:
        return 0.0
    used = Usage(input_tokens=tokens_in, output_tokens=tokens_out, cache_read_tokens=min(cached, tokens_in) or None)
    try:
        if place.url:
            return float(calc_price(used, model, provider_api_url=place.url).total_price)
        return float(calc_price(used, model, provider_id=place.provider.removesuffix("-chat")).total_price)
    except (LookupError, ValueError):
        return None
