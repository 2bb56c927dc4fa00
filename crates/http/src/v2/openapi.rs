//! `GET /api/v2/openapi.json`: the description of v2, made from the table of routes, from what each operation says of
//! itself, and from the types that are serialised. So a route cannot be forgotten, and no shape can differ from what is
//! sent. The same text lies in `openapi.json` of this crate, for those who build clients from it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, ParameterIn, PathItem, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ArrayBuilder, ComponentsBuilder, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{
    Content, ContentBuilder, HttpMethod, InfoBuilder, OpenApiBuilder, Ref, RefOr, Required, ResponseBuilder, Schema,
};

use super::params::Params;
use super::problems::{EVERYWHERE, KINDS, ProblemDetails};
use super::{About, Answer, JSON, Kind, Param, Shape};
use crate::asked::Asked;
use crate::problem::Problem;
use crate::router::{Operation, ROUTES};

pub(crate) const READ: About = About {
    id: "readOpenapi",
    summary: "This description",
    detail: "What the API takes and answers, as OpenAPI 3.1.",
    params: &[],
    bodies: &[],
    answers: &[Answer { status: 200, about: "It.", media_type: "application/json", shape: Shape::Object }],
    problems: &[],
};

static DESCRIPTION: LazyLock<Bytes> = LazyLock::new(|| description().into());

pub(crate) async fn read(asked: &Asked) -> Result<Response, Problem> {
    Params::read(asked, READ.params)?;
    Ok(([(CONTENT_TYPE, JSON)], DESCRIPTION.clone()).into_response())
}

/// The description as text, pretty enough to be compared line by line.
pub(crate) fn description() -> String {
    let mut schemas = BTreeMap::new();
    collect(&mut schemas, Shape::of::<ProblemDetails>("{}"));
    let mut paths = PathsBuilder::new();
    for route in ROUTES {
        for operation in route.operations {
            if let Some(about) = operation.about() {
                let shapes =
                    about.bodies.iter().map(|(_, shape)| shape).chain(about.answers.iter().map(|one| &one.shape));
                shapes.for_each(|shape| collect(&mut schemas, *shape));
                paths = paths.path(route.path, PathItem::new(method(*operation), described(route.path, about)));
            }
        }
    }
    let info = InfoBuilder::new()
        .title("Postkeep")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Mail that was caught, for tests and people. Times are RFC 3339, sizes are bytes, what is absent \
                           is null. An unknown parameter or member is refused with the nearest known; clients ignore \
                           members of answers that they do not know.",
        ))
        .build();
    let components =
        schemas.into_iter().fold(ComponentsBuilder::new(), |built, (name, schema)| built.schema(name, schema));
    let api = OpenApiBuilder::new().info(info).paths(paths.build()).components(Some(components.build())).build();
    let mut text = serde_json::to_string_pretty(&api).expect("a description is JSON");
    text.push('\n');
    text
}

fn collect(schemas: &mut BTreeMap<String, RefOr<Schema>>, shape: Shape) {
    if let Shape::Json { schema, others, .. } = shape {
        let (name, schema) = schema();
        let mut found = vec![(name, schema)];
        others(&mut found);
        schemas.extend(found);
    }
}

fn method(operation: Operation) -> HttpMethod {
    match operation.method().as_str() {
        "POST" => HttpMethod::Post,
        "DELETE" => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn described(path: &str, about: &'static About) -> utoipa::openapi::path::Operation {
    let mut built = OperationBuilder::new()
        .operation_id(Some(about.id))
        .summary(Some(about.summary))
        .description(Some(about.detail));
    for name in path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}')) {
        built = built.parameter(path_parameter(name));
    }
    for param in about.params {
        built = built.parameter(query_parameter(param));
    }
    if !about.bodies.is_empty() {
        let body = RequestBodyBuilder::new().required(Some(Required::True));
        let body = about.bodies.iter().fold(body, |body, (kind, shape)| body.content(*kind, content(*shape)));
        built = built.request_body(Some(body.build()));
    }
    for (status, answers) in by_status(about.answers) {
        let response = ResponseBuilder::new().description(answers[0].about);
        let told = answers.iter().filter(|answer| !matches!(answer.shape, Shape::Nothing));
        let response =
            told.fold(response, |response, answer| response.content(answer.media_type, content(answer.shape)));
        built = built.response(status.to_string(), response.build());
    }
    problems(path, about)
        .into_iter()
        .fold(built, |built, (status, slugs)| built.response(status.to_string(), problem(&slugs)))
        .build()
}

/// Answers of one status differ by their media type.
fn by_status(answers: &'static [Answer]) -> BTreeMap<u16, Vec<&'static Answer>> {
    answers.iter().fold(BTreeMap::new(), |mut by_status: BTreeMap<u16, Vec<_>>, answer| {
        by_status.entry(answer.status).or_default().push(answer);
        by_status
    })
}

fn path_parameter(name: &str) -> ParameterBuilder {
    let about = match name {
        "name" => "A mailbox by its name, or an address that leads to it.",
        "id" => "The id of a message, or `latest`.",
        "partId" => "The place of a part, as `1.2`.",
        _ => "",
    };
    let schema = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(about))
        .schema(Some(schema))
}

fn query_parameter(param: &Param) -> ParameterBuilder {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let schema: Schema = match param.kind {
        Kind::Text => text().into(),
        Kind::Texts => ArrayBuilder::new().items(text()).into(),
        Kind::Word(words) => text().enum_values(Some(words.iter().copied())).into(),
        Kind::Number => ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).into(),
        Kind::Flag => ObjectBuilder::new().schema_type(Type::Boolean).into(),
        Kind::Duration => text().pattern(Some("^[0-9]+(ms|s|m|h|d)$")).into(),
    };
    ParameterBuilder::new()
        .name(param.name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(param.about))
        .schema(Some(schema))
}

fn content(shape: Shape) -> Content {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    match shape {
        Shape::Nothing | Shape::Bytes => {
            ContentBuilder::new().schema(Some(text().format(Some(SchemaFormat::Custom("binary".to_owned()))))).build()
        }
        Shape::Text => ContentBuilder::new().schema(Some(text())).build(),
        Shape::Object => ContentBuilder::new().schema(Some(ObjectBuilder::new())).build(),
        Shape::Json { schema, example, .. } => {
            let (name, _) = schema();
            let example: Value = serde_json::from_str(example).unwrap_or_default();
            ContentBuilder::new().schema(Some(Ref::from_schema_name(name))).example(Some(example)).build()
        }
    }
}

/// The problems of an operation: its own, those of every one, and those that its path and body bring.
fn problems(path: &str, about: &About) -> BTreeMap<u16, Vec<&'static str>> {
    let of_body: &[&str] = if about.bodies.is_empty() { &[] } else { &["body-too-large", "media-type"] };
    let of_path: &[&str] = if path.contains('{') { &["route-unknown"] } else { &[] };
    let mut by_status: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    for slug in EVERYWHERE.iter().chain(of_path).chain(of_body).chain(about.problems) {
        let kind = KINDS.iter().find(|kind| kind.slug == *slug).expect("a slug of the table");
        let slugs = by_status.entry(kind.status).or_default();
        if !slugs.contains(slug) {
            slugs.push(slug);
        }
    }
    by_status
}

fn problem(slugs: &[&'static str]) -> utoipa::openapi::Response {
    let kinds = slugs.iter().filter_map(|slug| KINDS.iter().find(|kind| kind.slug == *slug));
    let about: Vec<String> = kinds.clone().map(|kind| format!("`{}`: {}", kind.slug, kind.about)).collect();
    let example = kinds.clone().next().map(|kind| {
        json!({"type": format!("urn:postkeep:problem:{}", kind.slug), "title": kind.title, "status": kind.status,
               "detail": kind.about, "requestId": "7c1d0e4f2a9b8c35"})
    });
    let content =
        ContentBuilder::new().schema(Some(Ref::from_schema_name(ProblemDetails::name()))).example(example).build();
    ResponseBuilder::new().description(about.join(" ")).content("application/problem+json", content).build()
}
