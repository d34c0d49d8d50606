"""What calls cost: as the user says, else by the list that comes with the library. Of all others nobody knows."""

from genai_prices import Usage, calc_price

from perdure.models.places import Place


def price_of(place: Place, model: str, tokens_in: int, tokens_out: int, cached: int = 0) -> float | None:
    """US dollars; None: nobody knows. A server on this machine costs what the user says, else nothing."""
    own = place.own_price(model, tokens_in, tokens_out)
    if own is not None or place.is_here:
        return own or 0.0
    used = Usage(input_tokens=tokens_in, output_tokens=tokens_out, cache_read_tokens=min(cached, tokens_in) or None)
    try:
        if place.url:
            return float(calc_price(used, model, provider_api_url=place.url).total_price)
        return float(calc_price(used, model, provider_id=place.provider.removesuffix("-chat")).total_price)
    except (LookupError, ValueError):
        return None
