"""How the shopper model is made: two encoders, deep and instant, in one vector space."""
