// Tables that are no tables, behind right checksums: the payload of a good one, in which bytes are
// replaced. No read leaves it, and each query ends.
//
// The input is a list of changes: two bytes (little endian) say where, one byte what is there
// instead. Behind 0xffff the rest of the input is the whole payload.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/content/patched_file.h"
#include "director/registry/registry_graph.h"
#include "director/registry/registry_query.h"

namespace galley::director {
namespace {

const std::string& GoodPayload() {
  static const std::string payload = [] {
    std::vector<RegistryRow> rows(4);
    rows[0] = {.package = "/Game/a.level",
               .cooker = "data",
               .known = 3,
               .edges = {{"/Game/b.mesh", EdgeKind::kHard, 3}, {"/Game/d.png", EdgeKind::kSoft, 1}},
               .reasons = {{3, ""}}};
    rows[1] = {
        .package = "/Game/b.mesh",
        .cooker = "mesh",
        .known = 3,
        .edges = {{"/Game/d.png", EdgeKind::kHard, 3}, {"/Game/a.level", EdgeKind::kHard, 2}},
        .reasons = {{6, "/Game/a.level"}}};
    rows[2] = {.package = "/Game/c.txt", .is_never = true, .source_size = 5};
    rows[3] = {.package = "/Game/d.png",
               .cooker = "texture",
               .known = 3,
               .tags = {{"format", std::string("bc7"), 2}, {"width", 512.0, 3}},
               .outputs = {{0, ".ktx2", 10}, {1, ".ktx2", 20}}};
    const std::string bytes = *RegistryTable::Encode({}, {"android", "pc"}, rows);
    const auto file = content::PatchedFile::FromBytes(bytes, "GLYREGI1");
    return std::string((*file)->At(0, (*file)->size()), (*file)->size());
  }();
  return payload;
}

std::string PayloadOf(std::string_view input) {
  std::string payload = GoodPayload();
  while (input.size() >= 3) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(input[i]); };
    const auto at = static_cast<size_t>(byte(0) | byte(1) << 8);
    if (at == 0xffff) return std::string(input.substr(2));
    payload[at % payload.size()] = input[2];
    input.remove_prefix(3);
  }
  return payload;
}

}  // namespace
}  // namespace galley::director

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  const std::string payload = PayloadOf({reinterpret_cast<const char*>(data), size});
  const auto table =
      RegistryTable::FromBytes(galley::content::PatchedFile::Seal("GLYREGI1", payload));
  if (!table.ok()) return 0;
  const RegistryTable& in = **table;
  for (size_t part = 0; part < RegistryTable::kParts; ++part) {
    if (!in.Need(static_cast<RegistryTable::Part>(part)).ok()) return 0;
  }
  for (RegistryTable::PackageNumber package = 0; package < in.size(); ++package) {
    static_cast<void>(in.Find(in.NameOf(package)));
    static_cast<void>(in.ClassOf(package));
    static_cast<void>(in.TagsOf(package));
    static_cast<void>(in.OutputsOf(package));
    static_cast<void>(in.ReasonsOf(package));
  }
  const galley::Cancellation stop;
  for (const char* query :
       {"closure(roots())", "path_between(roots(), not roots())",
        "path_between(all(), class(mesh))", "paths(roots(), class(texture))", "kind(hard)",
        "path(/Game/**) and class(texture) and size(1..) and tag(width, 1..) and tag(format, x)"})
    static_cast<void>(RunQuery(std::get<QueryNode>(ParseQuery(query)), *table, {}, stop));
  PackageSet all(in.size()), some(in.size());
  all.AddRange(0, in.size());
  if (in.size() > 0) some.Add(0);
  const RegistryGraph graph(in, all, ~0u, ~0u, stop);
  static_cast<void>(graph.SimplePaths(some, all, 10));
  static_cast<void>(graph.RetainedSizes(some, std::vector<uint64_t>(in.size(), 1)));
  return 0;
}
