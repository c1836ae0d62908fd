#include "model_source.hpp"

#include <filesystem>

#include "command_error.hpp"
#include "kvbudget/io/json_reader.hpp"
#include "kvbudget/io/model_json.hpp"

namespace cli {

using namespace kvbudget;

namespace {

described_model from_huggingface(huggingface_model&& read) {
  described_model result;
  result.model = read.architecture;
  result.source = "Hugging Face config";
  result.notes = std::move(read.notes);
  result.image = read.image;
  result.quantization = std::move(read.quantization_method);
  return result;
}

described_model from_own_schema(const json_document& document) {
  model_file read = parse_model_file(document.root, document.source);
  described_model result;
  result.model = read.architecture;
  result.source = "model in the schema of docs/model-schema.md";
  result.notes = std::move(read.notes);
  return result;
}

}  // namespace

described_model read_model_from(const std::string& path, const std::string& assume_like) {
  const json_document document = load_json(path, huggingface_limits);
  const json_field root(document);
  root.as_object();
  if (root.find("schema") && root.find("layers")) return from_own_schema(document);
  if (!root.find("model_type")) {
    refuse("{}: is neither a Hugging Face config (no \"model_type\") nor a model of docs/model-schema.md",
           document.source);
  }
  return from_huggingface(read_huggingface_config(document.root, document.source, {assume_like}));
}

}  // namespace cli
