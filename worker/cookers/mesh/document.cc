#include "worker/cookers/mesh/document.h"

#include <array>
#include <utility>

#include "common/base/status_macros.h"
#include "common/record/warning.h"
#include "fmt/format.h"
#include "worker/cookers/data/json_source.h"
#include "worker/cookers/mesh/asset_version.h"
#include "worker/cookers/mesh/extension_places.h"
#include "worker/cookers/mesh/extensions.h"
#include "worker/cookers/mesh/glb.h"
#include "worker/cookers/mesh/meshopt_views.h"
#include "worker/cookers/mesh/node_forest.h"
#include "worker/cookers/mesh/node_repairs.h"
#include "worker/cookers/mesh/property_rules.h"
#include "worker/cookers/mesh/uri.h"
#include "worker/cookers/mesh/warnings.h"
#include "worker/cookers/source/foreign_source.h"

namespace galley::worker::mesh {
namespace {

constexpr uint64_t kBufferBytesMax = uint64_t{1} << 40;
constexpr uint64_t kStrideMin = 4;
constexpr uint64_t kViewStrideMax = 252;

constexpr std::array<const char*, 13> kArrays = {
    "accessors", "animations", "buffers",  "bufferViews", "cameras", "images",  "materials",
    "meshes",    "nodes",      "samplers", "scenes",      "skins",   "textures"};

// The arrays of the file's extensions; each object with such an extension must have its array.
constexpr std::pair<const char*, const char*> kExtensionArrays[] = {
    {"KHR_lights_punctual", "lights"}, {"KHR_materials_variants", "variants"}};

// Members that are an index into an array.
struct IndexRule {
  const char* pattern;
  const char* target;  // the array's place in the file
};
constexpr IndexRule kReferences[] = {
    {"scene", "scenes"},
    {"scenes/*/nodes/*", "nodes"},
    {"nodes/*/children/*", "nodes"},
    {"nodes/*/mesh", "meshes"},
    {"nodes/*/camera", "cameras"},
    {"nodes/*/skin", "skins"},
    {"nodes/*/extensions/EXT_mesh_gpu_instancing/attributes/{}", "accessors"},
    {"nodes/*/extensions/KHR_lights_punctual/light", "extensions/KHR_lights_punctual/lights"},
    {"nodes/*/extensions/MSFT_lod/ids/*", "nodes"},
    {"materials/*/extensions/MSFT_lod/ids/*", "materials"},
    {"skins/*/joints/*", "nodes"},
    {"skins/*/skeleton", "nodes"},
    {"skins/*/inverseBindMatrices", "accessors"},
    {"animations/*/channels/*/target/node", "nodes"},
    {"animations/*/samplers/*/input", "accessors"},
    {"animations/*/samplers/*/output", "accessors"},
    {"meshes/*/primitives/*/indices", "accessors"},
    {"meshes/*/primitives/*/material", "materials"},
    {"meshes/*/primitives/*/attributes/{}", "accessors"},
    {"meshes/*/primitives/*/targets/*/{}", "accessors"},
    {"meshes/*/primitives/*/extensions/KHR_materials_variants/mappings/*/material", "materials"},
    {"meshes/*/primitives/*/extensions/KHR_materials_variants/mappings/*/variants/*",
     "extensions/KHR_materials_variants/variants"},
    {"textures/*/source", "images"},
    {"textures/*/sampler", "samplers"},
    {"images/*/bufferView", "bufferViews"},
    {"accessors/*/bufferView", "bufferViews"},
    {"accessors/*/sparse/indices/bufferView", "bufferViews"},
    {"accessors/*/sparse/values/bufferView", "bufferViews"},
    {"bufferViews/*/buffer", "buffers"},
};

// Checks an array of the file, or of an extension, to whose elements indices lead.
absl::Status CheckIndexed(const Json& object, const char* name, const std::string& pointer) {
  const Json* array = Member(object, name);
  if (array == nullptr) return absl::OkStatus();
  const std::string place = fmt::format("{}/{}", pointer, name);
  if (!array->is_array()) return Flaw(place, "expected an array, not " + Shown(*array));
  for (size_t i = 0; i < array->size(); ++i) {
    if (!(*array)[i].is_object()) return Flaw(fmt::format("{}/{}", place, i), "expected an object");
  }
  return absl::OkStatus();
}

absl::Status CheckArrays(const Json& json) {
  if (!json.is_object()) return Flaw("", "expected a JSON object, not " + Shown(json));
  for (const char* name : kArrays) RETURN_IF_ERROR(CheckIndexed(json, name, ""));
  for (const auto& [extension, name] : kExtensionArrays) {
    const Json* object = Extension(json, extension);
    if (object == nullptr) continue;
    RETURN_IF_ERROR(CheckIndexed(*object, name, fmt::format("/extensions/{}", extension)));
  }
  if (ArraySize(json, "nodes") > kNodesMax)
    return Flaw("/nodes", fmt::format("more than {} nodes", kNodesMax));
  return absl::OkStatus();
}

size_t SizeOf(const Json& json, std::string_view place) {
  const size_t slash = place.find('/');
  const std::string_view key = place.substr(0, slash);
  if (slash == std::string_view::npos) return ArraySize(json, key);
  const Json* inner = Member(json, key);
  return inner == nullptr ? 0 : SizeOf(*inner, place.substr(slash + 1));
}

// Checks that indices are in range. Turns 5.0 into 5, so that later code reads indices unchecked.
absl::Status CheckReferences(Json& json) {
  for (const IndexRule& rule : kReferences) {
    const size_t size = SizeOf(json, rule.target);
    RETURN_IF_ERROR(VisitJson(
        json, rule.pattern, "", [&](Json& value, const std::string& pointer) -> absl::Status {
          const auto index = WholeNumber(value, UINT32_MAX, pointer);
          if (!index.ok()) return index.status();
          if (*index >= size) {
            return Flaw(pointer,
                        fmt::format("{} is out of range: /{} has {}", *index, rule.target, size));
          }
          value = *index;
          return absl::OkStatus();
        }));
  }
  return absl::OkStatus();
}

// Drops extensions of kExtensionArrays whose array is empty.
void DropEmptyExtensions(Json& json, Warnings& warnings) {
  Json* extensions = Member(json, "extensions");
  if (extensions == nullptr) return;
  for (const auto& [extension, name] : kExtensionArrays) {
    const Json* object = Member(*extensions, extension);
    if (object == nullptr || ArraySize(*object, name) > 0) continue;
    if (Member(*object, name) == nullptr) {
      warnings.AddKept(
          record::WarningKind::kMeshExtension,
          "/extensions/{}: no member \"{}\"; the extension is left out (UNDEFINED_PROPERTY)",
          extension, name);
    }
    extensions->erase(extension);
  }
}

absl::Status RepairForest(Json& json, Warnings& warnings) {
  {
    ASSIGN_OR_RETURN(const NodeForest forest, NodeForest::Read(json, warnings));
    RepairScenes(json, forest, warnings);
  }
  // The forest is read again, since nodes may have become roots.
  ASSIGN_OR_RETURN(const NodeForest forest, NodeForest::Read(json, warnings));
  RepairNodes(json, warnings);
  RepairSkins(json, forest, warnings);
  return absl::OkStatus();
}

class BufferReader {
 public:
  BufferReader(Document& document, std::string_view binary, const FileReader& read_file)
      : document_(document), binary_(binary), read_file_(read_file) {}

  absl::Status ReadAll();

 private:
  struct Buffer {
    std::string_view bytes;
    bool has_bytes = true;
  };
  absl::StatusOr<Buffer> Read(const Json& json, bool is_first, const std::string& pointer);
  absl::StatusOr<std::string_view> ReadUri(const std::string& uri, const std::string& pointer);
  absl::Status AddView(const Json& json, const std::string& pointer);

  Document& document_;
  const std::string_view binary_;
  const FileReader& read_file_;
  std::vector<Buffer> buffers_;
};

absl::StatusOr<std::string_view> BufferReader::ReadUri(const std::string& uri,
                                                       const std::string& pointer) {
  if (IsDataUri(uri)) {
    RETURN_IF_ERROR(document_.Take(uri.size(), pointer));
    auto data = ParseDataUri(uri);
    if (!data.ok()) return Annotate(data.status(), pointer);
    return document_.Keep(MakeBlob(std::move(data->bytes)));
  }
  const auto path = PathOfUri(uri);
  if (!path.ok()) return Annotate(path.status(), pointer);
  auto bytes = read_file_(*path);
  if (!bytes.ok()) return Annotate(bytes.status(), pointer);
  if (*bytes == nullptr) return Flaw(pointer, fmt::format("there is no file \"{}\"", *path));
  if (const absl::Status fetched = CheckNoLfsPointer(**bytes); !fetched.ok())
    return Flaw(pointer, fmt::format("\"{}\": {}", *path, MessageOf(fetched)));
  return document_.Keep(*std::move(bytes));
}

absl::StatusOr<BufferReader::Buffer> BufferReader::Read(const Json& json, bool is_first,
                                                        const std::string& pointer) {
  ASSIGN_OR_RETURN(const uint64_t length,
                   NumberOr(json, "byteLength", 0, kBufferBytesMax, pointer));
  Buffer buffer;
  if (Member(json, "uri") != nullptr) {
    ASSIGN_OR_RETURN(const std::string uri, TextOr(json, "uri", "", pointer));
    if (document_.is_outline && !IsDataUri(uri)) {
      auto path = PathOfUri(uri);
      if (!path.ok()) return Annotate(path.status(), pointer + "/uri");
      document_.files.push_back(*std::move(path));
      return Buffer{.bytes = {}, .has_bytes = false};
    }
    ASSIGN_OR_RETURN(buffer.bytes, ReadUri(uri, pointer + "/uri"));
  } else if (is_first && !binary_.empty()) {
    buffer.bytes = binary_;
  } else {
    return Buffer{.bytes = {}, .has_bytes = false};
  }
  if (buffer.bytes.size() < length) {
    return Flaw(pointer, fmt::format("byteLength is {}, and there are {} bytes", length,
                                     buffer.bytes.size()));
  }
  buffer.bytes = buffer.bytes.substr(0, length);
  return buffer;
}

absl::Status BufferReader::AddView(const Json& json, const std::string& pointer) {
  if (Member(json, "buffer") == nullptr) return Flaw(pointer, "no member \"buffer\"");
  const Buffer& buffer = buffers_[json["buffer"].get<size_t>()];
  ASSIGN_OR_RETURN(const uint64_t offset,
                   NumberOr(json, "byteOffset", 0, kBufferBytesMax, pointer));
  ASSIGN_OR_RETURN(const uint64_t length,
                   NumberOr(json, "byteLength", 0, kBufferBytesMax, pointer));
  ASSIGN_OR_RETURN(const uint64_t stride, NumberOr(json, "byteStride", 0, kViewStrideMax, pointer));
  if (Member(json, "byteStride") != nullptr && stride < kStrideMin)
    return Flaw(pointer + "/byteStride", fmt::format("{} is less than {}", stride, kStrideMin));
  BufferView view{.bytes = {}, .stride = stride, .has_bytes = buffer.has_bytes};
  if (buffer.has_bytes) {
    if (offset > buffer.bytes.size() || length > buffer.bytes.size() - offset) {
      return Flaw(pointer, fmt::format("bytes {} to {} of a buffer that has {}", offset,
                                       offset + length, buffer.bytes.size()));
    }
    view.bytes = buffer.bytes.substr(offset, length);
  }
  const Json* compressed = Extension(json, kMeshoptCompression);
  if (compressed != nullptr && !document_.is_outline) {
    const std::string place = fmt::format("{}/extensions/{}", pointer, kMeshoptCompression);
    ASSIGN_OR_RETURN(const uint64_t source,
                     NumberOr(*compressed, "buffer", buffers_.size(), UINT32_MAX, place));
    if (source >= buffers_.size() || !buffers_[source].has_bytes)
      return Flaw(place + "/buffer", "expected the index of a buffer that has bytes");
    ASSIGN_OR_RETURN(view.bytes,
                     DecodeMeshoptView(document_, *compressed, buffers_[source].bytes, place));
    view.has_bytes = true;
    if (view.bytes.size() < length)
      return Flaw(place, fmt::format("count * byteStride is less than byteLength, {}", length));
  }
  document_.views.push_back(view);
  return absl::OkStatus();
}

absl::Status BufferReader::ReadAll() {
  const Json& json = document_.json;
  for (size_t i = 0; i < ArraySize(json, "buffers"); ++i) {
    ASSIGN_OR_RETURN(const Buffer buffer,
                     Read(json["buffers"][i], i == 0, fmt::format("/buffers/{}", i)));
    buffers_.push_back(buffer);
  }
  for (size_t i = 0; i < ArraySize(json, "bufferViews"); ++i)
    RETURN_IF_ERROR(AddView(json["bufferViews"][i], fmt::format("/bufferViews/{}", i)));
  return absl::OkStatus();
}

}  // namespace

std::string_view Document::Keep(Blob bytes) {
  kept_.push_back(std::move(bytes));
  return *kept_.back();
}

absl::StatusOr<Document> ReadDocument(const Blob& source, const FileReader& read_file,
                                      const DocumentOptions& options) {
  Document document;
  document.budget = MemoryBudget(options.memory_bytes_max);
  document.is_outline = options.is_outline;
  const std::string_view bytes = document.Keep(source);
  GlbChunks chunks{.json = bytes, .binary = {}, .warnings = {}};
  if (!IsGlb(bytes)) RETURN_IF_ERROR(CheckNoOtherCookers("glTF or GLB", bytes));
  if (IsGlb(bytes)) {
    ASSIGN_OR_RETURN(chunks, ReadGlb(bytes));
    document.warnings = chunks.warnings;
  }
  ASSIGN_OR_RETURN(document.json, ParseJsonSource(chunks.json));
  RETURN_IF_ERROR(CheckArrays(document.json));
  RETURN_IF_ERROR(CheckAssetVersion(document.json, document.warnings));
  RETURN_IF_ERROR(CheckRequiredExtensions(document.json));
  DropMisplacedExtensions(document.json, document.warnings);
  DropUnknownExtensions(document.json, document.warnings);
  DropEmptyExtensions(document.json, document.warnings);
  DropEmptyArrays(document.json);
  RepairProperties(document.json, document.warnings);
  CheckParameters(document.json, document.warnings);
  RETURN_IF_ERROR(CheckReferences(document.json));
  RETURN_IF_ERROR(RepairForest(document.json, document.warnings));
  RETURN_IF_ERROR(BufferReader(document, chunks.binary, read_file).ReadAll());
  return document;
}

}  // namespace galley::worker::mesh
