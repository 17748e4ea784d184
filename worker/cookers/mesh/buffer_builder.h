// BufferBuilder: builds the only buffer of a GLB, with its views and accessors.
//
// Layout: vertices of equal stride share a view. The attributes of a primitive are interleaved (the
// attributes of each morph target apart), each attribute at a multiple of 4. Then come 16-bit
// indices, 32-bit indices, inverse bind matrices, and the rest (animations, instances). Equal bytes
// are stored once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/primitive.h"
#include "worker/cookers/mesh/stream.h"

namespace galley::worker::mesh {

class BufferBuilder {
 public:
  // Writes attributes and targets, `indices` where the primitive has them, and `mode` into the glTF
  // primitive `json`, and replaces the old members.
  void AddPrimitive(const Primitive& primitive, Json& json);

  enum class Use { kInverseBind, kOther };
  // Returns the index of the new accessor. `has_bounds`: the accessor gets min and max.
  size_t AddStream(const Stream& stream, Use use, bool has_bounds);

  // Sets accessors, bufferViews and buffers; returns the buffer. Nothing may be added afterwards.
  std::string Finish(Json& json);

 private:
  // The parts of the buffer, in the order of the file. Vertices have a part for each stride.
  enum class Part { kVertices, kIndices16, kIndices32, kInverseBind, kOther };
  using SectionKey = std::pair<Part, size_t>;
  struct Section {
    std::string bytes;
    std::map<std::string, size_t> offsets;  // digest -> offset of those bytes
  };
  struct Accessor {
    SectionKey section;
    size_t offset = 0;
    Format format;
    size_t count = 0;
    Json bounds;  // null, or {"min", "max"}
  };

  // Returns the offset of `bytes` in the section, a multiple of 4; appends them if they are new.
  size_t Place(const SectionKey& section, const std::string& bytes);
  size_t AddAccessor(Accessor accessor);
  // Adds the attributes of a single target, or of the base.
  void AddAttributes(const std::vector<const Attribute*>& attributes, size_t vertex_count,
                     Json& json);
  void AddInterleaved(const std::vector<const Attribute*>& attributes, size_t stride,
                      size_t vertex_count, Json& json);
  size_t AddIndices(const Primitive& primitive);

  std::map<SectionKey, Section> sections_;
  std::vector<Accessor> accessors_;
  std::map<std::tuple<SectionKey, size_t, int, Shape, bool, size_t, bool>, size_t> known_;
};

}  // namespace galley::worker::mesh
