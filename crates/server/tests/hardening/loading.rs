//! Loading a shop does not delay requests to other shops.
