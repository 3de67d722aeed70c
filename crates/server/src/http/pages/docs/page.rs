//! Renders the page: introduction, operations, schemas, errors.

use serde_json::Value;

use super::{
    curl,
    html::{Element, element},
    schema,
    spec::{Operation, Spec},
};
use crate::http::errors::{
    codes::VALIDATION_CODES,
    reference::{advice, every_error, problem_example},
};

/// The page with this style sheet.
pub(super) fn page(spec: &Spec, style: &'static str) -> String {
    let title = spec.at("/info/title").as_str().unwrap_or_default();
    let head = element("head")
        .add(element("meta").with("charset", "utf-8"))
        .add(
            element("meta")
                .with("name", "viewport")
                .with("content", "width=device-width, initial-scale=1"),
        )
        .add(element("meta").with("name", "color-scheme").with("content", "light dark"))
        .add(element("title").text(&format!("{title} API")))
        .add(element("style").style(style));
    let body = element("body").add(navigation(spec, title)).add(
        element("main")
            .add(introduction(spec, title))
            .add_all(tags(spec).map(|tag| group(spec, tag)))
            .add(schemas(spec))
            .add(errors(spec)),
    );
    format!("<!doctype html>\n{}\n", element("html").with("lang", "en").add(head).add(body))
}

fn tags(spec: &Spec) -> impl Iterator<Item = &Value> {
    spec.at("/tags").as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn navigation(spec: &Spec, title: &str) -> Element {
    let groups = tags(spec).map(|tag| {
        let name = text(tag, "name");
        let entries = spec.operations(name).into_iter().map(|operation| {
            let link = element("a")
                .with("href", format!("#{}", text(operation.json, "operationId")))
                .add(method(&operation))
                .text(text(operation.json, "summary"));
            element("li").add(link)
        });
        element("section").add(element("h2").text(name)).add(element("ul").add_all(entries))
    });
    let reference = element("ul")
        .add(element("li").add(element("a").with("href", "#schemas").text("Schemas")))
        .add(element("li").add(element("a").with("href", "#errors").text("Errors")))
        .add(element("li").add(element("a").with("href", "/openapi.json").text("openapi.json")));
    let inside = element("div")
        .class("entries")
        .add_all(groups)
        .add(element("section").add(element("h2").text("Reference")).add(reference));
    element("nav").add(element("a").class("brand").with("href", "#top").text(title)).add(inside)
}

fn introduction(spec: &Spec, title: &str) -> Element {
    let paragraphs = text(spec.at("/info"), "description")
        .split("\n\n")
        .map(|paragraph| element("p").prose(paragraph));
    element("header")
        .with("id", "top")
        .add(
            element("h1")
                .text(title)
                .text(" ")
                .add(element("small").text(text(spec.at("/info"), "version"))),
        )
        .add_all(paragraphs)
        .add(element("p").text("The commands below work once a shell knows these two:"))
        .add(code("export BASE=http://127.0.0.1:7700\nexport TOKEN=shk_…"))
}

fn group(spec: &Spec, tag: &Value) -> Element {
    let name = text(tag, "name");
    element("section")
        .class("group")
        .add(element("h2").text(name))
        .add(element("p").class("lead").prose(text(tag, "description")))
        .add_all(spec.operations(name).iter().map(|found| operation(spec, found)))
}

fn operation(spec: &Spec, operation: &Operation<'_>) -> Element {
    let json = operation.json;
    let id = text(json, "operationId");
    let role = match text(json, "x-required-role") {
        "none" => element("span").class("role open").text("no token needed"),
        role => element("span").class("role").text(role).text(" or higher"),
    };
    let title = element("h3").add(
        element("a").class("anchor").with("href", format!("#{id}")).text(text(json, "summary")),
    );
    let address = element("p")
        .class("address")
        .add(method(operation))
        .add(element("code").text(operation.path))
        .add(role);
    let words = element("div")
        .class("words")
        .add(element("p").prose(&text(json, "description").replace('\n', " ")))
        .add_all(parameters(operation))
        .add_all(body(spec, operation))
        .add(responses(spec, operation));
    let samples = element("div")
        .class("samples")
        .add(element("h4").text("Try it"))
        .add(code(&curl::command(spec, operation)))
        .add_all(answer(spec, operation));
    element("article")
        .with("id", id)
        .add(title)
        .add(address)
        .add(element("div").class("columns").add(words).add(samples))
}

fn method(operation: &Operation<'_>) -> Element {
    element("b")
        .class(&format!("method {}", operation.method))
        .text(&operation.method.to_uppercase())
}

fn parameters(operation: &Operation<'_>) -> Option<Element> {
    let all = operation.json["parameters"].as_array()?;
    let rows = all.iter().map(|parameter| {
        let required = parameter["required"] == true;
        schema::described_row(
            text(parameter, "name"),
            &parameter["schema"],
            required,
            text(parameter, "description"),
        )
    });
    let rows = element("div").class("fields").add_all(rows);
    Some(element("section").add(element("h4").text("Parameters")).add(rows))
}

fn body(spec: &Spec, operation: &Operation<'_>) -> Option<Element> {
    let schema = operation.json["requestBody"]["content"]["application/json"].get("schema")?;
    let title = element("h4").text("Body ").add(schema::kind(schema));
    Some(element("section").add(title).add(schema::fields(spec, schema)))
}

fn all_responses<'a>(
    spec: &'a Spec,
    operation: &Operation<'a>,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let responses = operation.json["responses"].as_object().into_iter().flatten();
    responses.map(|(status, response)| (status, spec.resolve(response)))
}

fn responses(spec: &Spec, operation: &Operation<'_>) -> Element {
    let rows = all_responses(spec, operation).map(|(status, response)| {
        let content = response["content"].as_object().and_then(|content| content.iter().next());
        let problem = content.is_some_and(|(kind, _)| kind == "application/problem+json");
        let mut words = element("span");
        if problem {
            let codes = content.into_iter().flat_map(|(_, content)| problem_codes(content));
            for code in codes {
                words = words
                    .add(element("a").class("code").with("href", format!("#{code}")).text(code));
            }
        } else {
            words = words.prose(text(response, "description"));
            if let Some((_, content)) = content {
                words = words.text(" ").add(schema::kind(&content["schema"]));
            }
        }
        let (line, class) = match problem {
            true => (element("li"), "status bad"),
            false => (element("li").class("whole"), "status good"),
        };
        line.add(element("b").class(class).text(status)).add(words)
    });
    element("section")
        .add(element("h4").text("Answers"))
        .add(element("ul").class("answers").add_all(rows))
}

/// The codes of a problem's examples, without duplicates.
fn problem_codes(content: &Value) -> Vec<&str> {
    let examples = content["examples"].as_object().into_iter().flatten();
    let mut codes: Vec<&str> =
        examples.filter_map(|(_, example)| example["value"]["code"].as_str()).collect();
    codes.dedup();
    codes
}

fn answer(spec: &Spec, operation: &Operation<'_>) -> Vec<Element> {
    let good = all_responses(spec, operation).find_map(|(status, response)| {
        Some((status, response["content"].as_object()?.iter().next()?))
    });
    let Some((status, (kind, content))) = good.filter(|(status, _)| status.starts_with('2')) else {
        return Vec::new();
    };
    let example = match &content["example"] {
        Value::String(text) => text.trim_end().to_owned(),
        other => spec.pretty(other, &content["schema"]),
    };
    let title = element("h4")
        .text("Answer ")
        .add(element("span").class("kind").text(status).text(" ").text(kind));
    vec![title, code(&example)]
}

fn code(text: &str) -> Element {
    element("pre").with("tabindex", "0").add(element("code").text(text))
}

fn schemas(spec: &Spec) -> Element {
    let names = spec.at("/components/schemas").as_object().into_iter().flatten();
    let all = names.map(|(name, schema)| {
        let reference = serde_json::json!({"$ref": format!("#/components/schemas/{name}")});
        element("article")
            .class("schema")
            .with("id", format!("schema-{name}"))
            .add(element("h3").text(name))
            .add(element("p").prose(text(schema, "description")))
            .add(schema::fields(spec, &reference))
    });
    element("section")
        .class("group")
        .add(element("h2").with("id", "schemas").text("Schemas"))
        .add_all(all)
}

fn errors(spec: &Spec) -> Element {
    let problem = serde_json::json!({"$ref": "#/components/schemas/Problem"});
    let mut seen = Vec::new();
    let mut all = Vec::new();
    for error in every_error() {
        let (status, code_name, title) = error.table();
        if seen.contains(&code_name) {
            continue;
        }
        seen.push(code_name);
        let example = spec.pretty(&problem_example(&error), &problem);
        let title = element("h3")
            .add(element("b").class("status bad").text(status.as_str()))
            .text(title)
            .text(" ")
            .add(element("code").text(code_name));
        let sample = element("details").add(element("summary").text("Example")).add(code(&example));
        all.push(
            element("article")
                .class("error")
                .with("id", code_name)
                .add(title)
                .add(element("p").prose(advice(&error)))
                .add(sample),
        );
    }
    let codes = VALIDATION_CODES.map(|(name, meaning)| {
        element("dl")
            .class("field")
            .add(element("dt").add(element("code").class("name").text(name)))
            .add(element("dd").add(element("p").prose(meaning)))
    });
    element("section")
        .class("group")
        .add(element("h2").with("id", "errors").text("Errors"))
        .add(
            element("p").class("lead").text(
                "By the code in the answer. What to do next is the same for every operation.",
            ),
        )
        .add_all(all)
        .add(element("h3").with("id", "faults").text("What can be wrong with a field"))
        .add(element("p").prose(
            "The codes in the `errors` of a `validation_failed` problem and of bulk answers.",
        ))
        .add(element("div").class("fields").add_all(codes))
}
