#include "director/cli/init/json_source.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "common/base/utf8.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::init {
namespace {

using Json = nlohmann::json;

constexpr size_t kNestingMax = 512;

// Builds nothing: finds a key twice, values nested too deep and the references.
class FactsReader : public nlohmann::json_sax<Json> {
 public:
  explicit FactsReader(JsonFacts& facts) : facts_(facts) {}

  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(number_integer_t) override { return Value(); }
  bool number_unsigned(number_unsigned_t) override { return Value(); }
  bool number_float(number_float_t value, const string_t&) override {
    if (std::isfinite(value)) return Value();
    facts_.why_not = "JSON with a number out of range";
    return false;
  }
  bool binary(binary_t&) override { return Value(); }
  bool string(string_t& value) override {
    if (!open_.empty() && open_.back().is_reference_key) open_.back().reference = value;
    return Value();
  }
  bool start_object(size_t) override { return Open(); }
  bool start_array(size_t) override { return Open(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    Level& level = open_.back();
    if (!level.keys.insert(name).second) {
      facts_.why_not = "JSON with a key twice in an object";
      return false;
    }
    level.is_reference_key = name == "$ref" || name == "$soft" || name == "$editor";
    return true;
  }
  bool end_object() override {
    Level& level = open_.back();
    if (level.keys.size() == 1 && level.reference) facts_.references.push_back(*level.reference);
    return Close();
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // Numbers that no double holds are an error of their own kind.
    const bool is_range = error.id == 406;
    if (facts_.why_not.empty())
      facts_.why_not = is_range ? "JSON with a number out of range" : "not JSON";
    return false;
  }

 private:
  struct Level {
    std::set<std::string> keys;
    std::optional<std::string> reference;
    bool is_reference_key = false;
  };

  bool Value() {
    if (!open_.empty()) open_.back().is_reference_key = false;
    return true;
  }
  bool Open() {
    Value();
    open_.emplace_back();
    if (open_.size() <= kNestingMax) return true;
    facts_.why_not = fmt::format("JSON nested deeper than {}", kNestingMax);
    return false;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  JsonFacts& facts_;
  std::vector<Level> open_;
};

uint32_t WordAt(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
    value |= uint32_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  return value;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string WithoutPercentEscapes(std::string_view uri) {
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    const bool is_escape = uri[i] == '%' && i + 2 < uri.size() && HexValue(uri[i + 1]) >= 0 &&
                           HexValue(uri[i + 2]) >= 0;
    path +=
        is_escape ? static_cast<char>(HexValue(uri[i + 1]) * 16 + HexValue(uri[i + 2])) : uri[i];
    if (is_escape) i += 2;
  }
  return path;
}

const Json* Member(const Json& value, std::string_view name) {
  if (!value.is_object()) return nullptr;
  const auto found = value.find(std::string(name));
  return found == value.end() ? nullptr : &*found;
}

const Json* Element(const Json& document, std::string_view array, const Json& index) {
  const Json* values = Member(document, array);
  if (values == nullptr || !values->is_array() || !index.is_number_unsigned()) return nullptr;
  const auto at = index.get<size_t>();
  return at < values->size() ? &(*values)[at] : nullptr;
}

std::string TextOf(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

bool IsBeside(const std::string& uri) { return !uri.empty() && !uri.starts_with("data:"); }

// The extensions that the mesh cooker knows (docs/cookers/mesh.md): all KHR_materials_*, and these.
bool IsKnownExtension(std::string_view name) {
  static const std::set<std::string, std::less<>> kKnown = {"EXT_mesh_gpu_instancing",
                                                            "EXT_meshopt_compression",
                                                            "EXT_texture_avif",
                                                            "EXT_texture_webp",
                                                            "KHR_lights_punctual",
                                                            "KHR_mesh_quantization",
                                                            "KHR_node_visibility",
                                                            "KHR_texture_basisu",
                                                            "KHR_texture_transform",
                                                            "KHR_xmp_json_ld",
                                                            "MSFT_lod",
                                                            "MSFT_texture_dds"};
  return name.starts_with("KHR_materials_") || kKnown.contains(name);
}

std::string WhyRefused(const Json& document) {
  const Json* asset = Member(document, "asset");
  if (asset == nullptr) return "JSON, but no glTF: it has no `asset`";
  const std::string version = TextOf(Member(*asset, "version"));
  if (!version.starts_with("2")) return fmt::format("glTF of version {}", version);
  const Json* required = Member(document, "extensionsRequired");
  if (required != nullptr && required->is_array()) {
    for (const Json& name : *required) {
      const std::string text = TextOf(&name);
      if (!IsKnownExtension(text)) return fmt::format("glTF that requires {}", text);
    }
  }
  const Json* images = Member(document, "images");
  if (images == nullptr || !images->is_array()) return "";
  for (const Json& image : *images) {
    const std::string type = TextOf(Member(image, "mimeType"));
    const bool is_embedded = !IsBeside(TextOf(Member(image, "uri")));
    if (is_embedded && (type == "image/webp" || type == "image/avif"))
      return fmt::format("glTF with embedded pictures of the type {}", type);
  }
  return "";
}

// The image that a texture shows: an extension's own goes before.
const Json* ImageOf(const Json& document, const Json& texture_info) {
  const Json* index = Member(texture_info, "index");
  const Json* texture = index == nullptr ? nullptr : Element(document, "textures", *index);
  if (texture == nullptr) return nullptr;
  if (const Json* source = Member(*texture, "source"); source != nullptr)
    return Element(document, "images", *source);
  const Json* extensions = Member(*texture, "extensions");
  if (extensions == nullptr || !extensions->is_object()) return nullptr;
  for (const Json& extension : *extensions) {
    if (const Json* source = Member(extension, "source"); source != nullptr)
      return Element(document, "images", *source);
  }
  return nullptr;
}

TextureUse UseOfSlot(std::string_view slot) {
  static const std::set<std::string, std::less<>> kColors = {"baseColorTexture",
                                                             "emissiveTexture",
                                                             "diffuseTexture",
                                                             "specularGlossinessTexture",
                                                             "sheenColorTexture",
                                                             "specularColorTexture",
                                                             "diffuseTransmissionColorTexture"};
  if (slot == "normalTexture" || slot.ends_with("NormalTexture")) return TextureUse::kNormal;
  return kColors.contains(slot) ? TextureUse::kColor : TextureUse::kData;
}

void FindImages(const Json& document, const Json& value, std::vector<GltfImage>& images) {
  if (!value.is_object()) return;
  for (const auto& item : value.items()) {
    if (item.key() == "extras") continue;
    if (!item.key().ends_with("Texture")) {
      FindImages(document, item.value(), images);
      continue;
    }
    const Json* image = ImageOf(document, item.value());
    const std::string uri = image == nullptr ? "" : TextOf(Member(*image, "uri"));
    if (IsBeside(uri)) images.push_back({WithoutPercentEscapes(uri), UseOfSlot(item.key())});
  }
}

}  // namespace

JsonFacts ReadJson(std::string_view text) {
  JsonFacts facts;
  if (text.empty()) {
    facts.why_not = "empty";
  } else if (text.starts_with("\xEF\xBB\xBF")) {
    facts.why_not = "JSON behind a byte order mark";
  } else if (!IsUtf8(text)) {
    facts.why_not = "not JSON: it is not UTF-8";
  } else {
    FactsReader reader(facts);
    const bool is_whole = Json::sax_parse(text, &reader) && text.find('\0') == text.npos;
    if (!is_whole && facts.why_not.empty()) facts.why_not = "not JSON";
  }
  for (const std::string& reference : facts.references) {
    const bool is_elsewhere =
        reference.starts_with('#') || reference.find("://") != std::string::npos;
    if (is_elsewhere && facts.why_not.empty())
      facts.why_not = "a JSON schema: its $ref means another thing than Galley's";
  }
  return facts;
}

GltfFacts ReadGltf(std::string_view bytes) {
  GltfFacts facts;
  if (bytes.starts_with("glTF")) {
    if (WordAt(bytes, 4) != 2) {
      facts.why_not = fmt::format("GLB of version {}", WordAt(bytes, 4));
      return facts;
    }
    bytes = bytes.substr(std::min<size_t>(bytes.size(), 20), WordAt(bytes, 12));
  }
  const Json document = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || !document.is_object()) {
    facts.why_not = bytes.empty() ? "empty" : "no glTF: it is not JSON";
    return facts;
  }
  facts.why_not = WhyRefused(document);
  if (const Json* buffers = Member(document, "buffers"); buffers != nullptr) {
    for (const Json& buffer : *buffers) {
      const std::string uri = TextOf(Member(buffer, "uri"));
      if (IsBeside(uri)) facts.buffers.push_back(WithoutPercentEscapes(uri));
    }
  }
  if (const Json* materials = Member(document, "materials"); materials != nullptr) {
    for (const Json& material : *materials) FindImages(document, material, facts.images);
  }
  return facts;
}

}  // namespace galley::init
