//! Does looking at signs first lose anything worth finding? Real vectors of real phrases.
