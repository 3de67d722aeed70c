"""Learns where a product belongs in Shopify's taxonomy from the words of its texts."""
