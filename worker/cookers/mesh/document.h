// Document: a glTF source in memory: its JSON, checked for shape, and the bytes that its buffer
// views show.
//
// A Document promises: every index into another top-level array, or into an array of an extension,
// is in range (kReferences in document.cc lists these members); nodes are trees; scenes name nodes,
// each once, which are roots unless another scene shows their parents; every element of the
// top-level arrays is an object; no extension is required that this cooker does not know. The
// contents of accessors are checked when they are read (accessor.h), their meaning in the scene by
// scene_checks.h. Values that break a rule but can be drawn are repaired or warned of: extensions
// by extension_places.h, values by property_rules.h, scenes by node_forest.h, nodes and skins by
// node_repairs.h.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/memory_budget.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

inline constexpr size_t kNodesMax = 1'000'000;

struct BufferView {
  std::string_view bytes;
  size_t stride = 0;      // 0: tight
  bool has_bytes = true;  // false: the view is of a buffer that is only a decoder's fallback
};

class Document {
 public:
  Json json;
  std::vector<BufferView> views;
  std::vector<std::string> files;  // files of buffers; as written, percent-decoded
  bool is_outline = false;         // no file was read: views of buffers in files have no bytes
  Warnings warnings;
  MemoryBudget budget;

  // Counts memory that is about to be taken (memory_budget.h).
  absl::Status Take(uint64_t bytes, const std::string& pointer) {
    return budget.Take(bytes, pointer);
  }
  // Keeps `bytes` for as long as the document lives. The returned address stays.
  std::string_view Keep(Blob bytes);

 private:
  std::deque<Blob> kept_;
};

// Returns the bytes of a file relative to the source's folder; nullptr: there is no such file.
using FileReader = std::function<absl::StatusOr<Blob>(const std::string& path)>;

struct DocumentOptions {
  uint64_t memory_bytes_max = 0;
  // Reads no file of a buffer, and decodes no view.
  bool is_outline = false;
};
// Reads a .gltf or .glb with its buffers; the first bytes tell them apart. INVALID_ARGUMENT names
// the JSON pointer of the flaw; errors of `read_file` are handed on.
absl::StatusOr<Document> ReadDocument(const Blob& source, const FileReader& read_file,
                                      const DocumentOptions& options);

}  // namespace galley::worker::mesh
