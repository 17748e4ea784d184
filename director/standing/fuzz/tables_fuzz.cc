// TablesFuzz: the tables of a standing with some bytes replaced, and right checksums: tables of
// stamps or of members, new or patched. Never a crash, and a table that opens has the same content
// when it is opened again.
//
// Input: "<kind><offset, 4 bytes><byte>...". Bit 0 of the kind: members; bit 1: the bytes are in a
// patch; bit 2: the table is cut off at the last offset.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/content/patched_file.h"
#include "common/content/stamp_table.h"
#include "director/standing/members.h"

namespace galley {
namespace {

using content::PatchedFile;
using content::StampTable;
using director::Members;

std::string SomeStamps() {
  content::StampTableBuilder builder;
  const uint32_t a = builder.Add({.host_path = "/nowhere/a"});
  const uint32_t b = builder.Add({.host_path = "/nowhere/b"});
  builder.Add(a, {.name = "x", .digest = Digest::Of("x")});
  builder.Add(a, {.name = "y", .link_target = FileStat{.size_bytes = 1}});
  builder.Add(b, {.name = "z", .digest = Digest::Of("z"), .is_racy = true});
  return builder.Finish().value();
}

std::string SomeMembers() {
  const auto key = [](std::string_view text) { return std::optional(Digest::Of(text)); };
  return director::EncodeMembers({"pc", "phone"},
                                 {{.package = "/Game/a", .roots = 3, .keys = {key("1"), key("2")}},
                                  {.package = "/Game/b", .roots = 1, .keys = {key("3"), {}}}})
      .bytes;
}

void Use(const StampTable& table) {
  (void)table.Check({.threads = 1, .changes_max = 4});
  (void)table.NamesOf("/nowhere/a");
  (void)table.With({}).status();
  (void)table.Verify();
}

void Use(const Members& members) {
  for (const std::string_view name : members.Names()) (void)members.Find(name);
  (void)members.Find("/Game/a");
  (void)members.RootsOf("/Game/none");
  (void)members.Keys();
  (void)members.snapshot();
  if (const auto a = members.Find("/Game/a")) (void)members.With({*a});
  (void)members.With({{.package = "/Game/new"}}, {"/Game/b"});
}

template <typename Table>
void OpenAndUse(const std::string& file) {
  const auto table = Table::Open(file);
  if (!table.ok()) return;
  Use(*table);
  const auto again = Table::Open(file);
  GALLEY_CHECK(again.ok() && again->id() == table->id());
}

std::string FileToUse() {
  InitLog("fuzz", LogLevel::kOff, "");
  static const std::string& folder =
      *new std::string(MakeTemporaryDirectory("/dev/shm", "galley-fuzz-").value());
  GALLEY_CHECK(std::atexit([] { (void)RemoveAll(folder); }) == 0);
  return JoinPath(folder, "table");
}

}  // namespace
}  // namespace galley

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley;
  static const std::string& file = *new std::string(FileToUse());
  static const std::string& stamps = *new std::string(SomeStamps());
  static const std::string& members = *new std::string(SomeMembers());
  if (size == 0) return 0;
  const bool is_members = (data[0] & 1) != 0, is_patch = (data[0] & 2) != 0;
  const std::string& whole = is_members ? members : stamps;
  const std::string magic = whole.substr(0, 8);
  const auto opened = PatchedFile::FromBytes(whole, magic).value();
  std::string payload((*opened).begin(), opened->size());
  PatchedFile::Ranges ranges;
  uint32_t at = 0;
  for (const uint8_t* edit = data + 1; edit + 5 <= data + size; edit += 5) {
    std::memcpy(&at, edit, sizeof(at));
    at %= static_cast<uint32_t>(payload.size());
    ranges[at] = std::string(1, static_cast<char>(edit[4]));
  }
  GALLEY_CHECK(PatchedFile::Write(file, whole).ok());
  if (is_patch) {
    const auto base = PatchedFile::Open(file, magic);
    GALLEY_CHECK(base.ok());
    const auto patch = (*base)->With(ranges);
    GALLEY_CHECK(patch.ok() && PatchedFile::Write(file, *patch).ok());
  } else {
    for (const auto& [where, byte] : ranges) payload.replace(where, 1, byte);
    if ((data[0] & 4) != 0) payload.resize(at);
    GALLEY_CHECK(PatchedFile::Write(file, PatchedFile::Seal(magic, payload)).ok());
  }
  is_members ? OpenAndUse<Members>(file) : OpenAndUse<StampTable>(file);
  return 0;
}
