//! Negated comparisons, budgets and `X-free` in queries, over HTTP.
