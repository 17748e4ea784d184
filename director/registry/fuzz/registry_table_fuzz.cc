// Tables that are no tables, behind right checksums: the bytes become a payload. No read leaves it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/content/patched_file.h"
#include "director/registry/registry_query.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  const std::string_view payload(reinterpret_cast<const char*>(data), size);
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
  for (const char* query : {"closure(roots())", "path_between(roots(), all())", "kind(hard)",
                            "path(/Game/**) and class(texture) and size(1..) and tag(width)"})
    static_cast<void>(RunQuery(std::get<QueryNode>(ParseQuery(query)), *table, {}, stop));
  return 0;
}
