# Converts the demo's tables (demo/catalog/*.tsv) to a catalog file of `shopkeeper eval`, named by
# their keys, without the products that search leaves out; `-v all=1` includes those.
BEGIN { FS = "\t" }

function json(text) {
    gsub(/["\\]/, "\\\\&", text)
    return "\"" text "\""
}

function value(text,    parts, count, i, list) {
    if (text ~ /^(true|false|-?[0-9]+(\.[0-9]+)?)$/) return text
    count = split(text, parts, "|")
    if (count == 1) return json(text)
    for (i = 1; i <= count; i++) list = list (i > 1 ? ", " : "") json(parts[i])
    return "[" list "]"
}

function attributes(column,    entries, count, i, at, list) {
    count = split(column, entries, /; */)
    for (i = 1; i <= count; i++) {
        at = index(entries[i], "=")
        list = list (i > 1 ? ", " : "") json(substr(entries[i], 1, at - 1)) ": " value(substr(entries[i], at + 1))
    }
    return "{" list "}"
}

FNR > 1 && (all || $7 == "") {
    printf "{\"product\": %s, \"key\": %s, \"title\": %s, \"price\": %s, \"description\": %s, \"attributes\": %s}\n", \
        json($5), json($5), json($1), json($2), json($4), attributes($6)
}
