"""The order desk: prices, carts, orders, invoices and reports of a small shop."""

from till.cart import Cart
from till.customers import Customer
from till.items import Item
from till.orders import Order, place
from till.stock import Stock

__all__ = ["Cart", "Customer", "Item", "Order", "Stock", "place"]
