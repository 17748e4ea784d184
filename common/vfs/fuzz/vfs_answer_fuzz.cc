// Answers of a hostile server: the first byte says what the rest is read as. An answer is read
// whole and in pieces, with the same outcome.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status_macros.h"
#include "common/vfs/folder.h"
#include "common/vfs/protocol.h"
#include "common/vfs/response_parser.h"
#include "common/vfs/session_tree.h"
#include "common/vfs/testing/sample_tree.h"
#include "common/vfs/tree_path.h"

namespace galley::vfs {
namespace {

struct Read {
  ResponseParser::State state;
  std::string body;
  std::string error;
};

Read ReadInPieces(std::string_view bytes, size_t piece) {
  ResponseParser parser;
  Read read{};
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const std::string_view given = bytes.substr(at, piece);
    const size_t taken = parser.Feed(given, read.body);
    GALLEY_CHECK(taken <= given.size());
    if (taken < given.size()) break;
  }
  parser.End();
  read.state = parser.state();
  read.error = parser.error();
  return read;
}

void FuzzAnswer(std::string_view bytes) {
  const Read whole = ReadInPieces(bytes, std::max<size_t>(bytes.size(), 1));
  const Read pieces = ReadInPieces(bytes, 3);
  GALLEY_CHECK(whole.state == pieces.state && whole.body == pieces.body);
  GALLEY_CHECK(whole.state == ResponseParser::State::kDone ||
               whole.state == ResponseParser::State::kFailed);
  GALLEY_CHECK((whole.state == ResponseParser::State::kFailed) == !whole.error.empty());
  GALLEY_CHECK(whole.body.size() <= bytes.size());
}

void FuzzFolder(std::string_view bytes) {
  std::string last;
  const bool is_folder = ForEachEntry(bytes, [&](const FolderEntry& entry) {
    GALLEY_CHECK(IsPlainSegment(entry.name));
    last = entry.name;
    return true;
  });
  if (is_folder && !last.empty()) GALLEY_CHECK(FindEntry(bytes, last).entry.has_value());
  // Every folder of the tree is this one: links and depth have limits.
  const auto entry = FollowPath(
      {}, "static/" + (last.empty() ? "a" : last),
      [&](const BlobId&) -> Result<FolderBytes> { return FolderBytes(std::string(bytes)); });
  GALLEY_CHECK(entry.ok() || !entry.fault().text.empty());
  const ReadFolder read = [&](const BlobId&) -> Result<FolderBytes> {
    return FolderBytes(std::string(bytes));
  };
  const SessionTree tree({}, read);
  for (const char* const path : {"", "a", "a.d", "a/_gen", "a/_gen/b.c", "a/_gen/b/_gen/c.d/e"}) {
    static_cast<void>(tree.Find(path));
    static_cast<void>(tree.List(path));
  }
}

// Every folder of the tree has a file `_gen` and all folders that lead to nodes; every list is this
// one.
void FuzzList(std::string_view bytes) {
  const auto packages = ParseGeneratedList(bytes);
  if (!packages) return;
  for (const GeneratedPackage& package : *packages) GALLEY_CHECK(IsPlainPath(package.path));
  SampleTree blobs;
  const BlobId list = blobs.Put(std::string(bytes));
  SampleFolder node{.files = {{"_gen", list}, {"b.c", list}}, .folders = {}, .links = {}};
  const std::string hex(64, 'a');
  const BlobId resource = blobs.PutBelow({"aa", "aa", hex}, blobs.Put(node));
  const BlobId shown = blobs.PutBelow({"a"}, blobs.Put(node));
  const BlobId root =
      blobs.Put({.files = {}, .folders = {{"resource", resource}, {"static", shown}}, .links = {}});
  const ReadFolder read = blobs.Read();
  const SessionTree tree(root, read);
  for (const char* const path : {"a", "a/_gen", "a/_gen/b.c", "a/_gen/b/_gen/c.d/e"}) {
    static_cast<void>(tree.Find(path));
    static_cast<void>(tree.List(path));
  }
}

void FuzzJson(std::string_view bytes) {
  if (const auto state = ParseSession(bytes))
    GALLEY_CHECK(!state->id.empty() && state->id.find('/') == std::string::npos);
  GALLEY_CHECK(!ParseProblem({.status = 500}, bytes).text.empty());
  static_cast<void>(ParseReprDigest(bytes));
  static_cast<void>(ParseChange(bytes));
  if (const auto difference = ParseDifference(bytes)) {
    for (const std::string& path : difference->stale) GALLEY_CHECK(IsPlainPath(path));
    for (const auto& file : difference->added) GALLEY_CHECK(IsPlainPath(file.path));
  }
}

}  // namespace
}  // namespace galley::vfs

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 3 == 0) galley::vfs::FuzzAnswer(bytes);
  if (data[0] % 3 == 1) galley::vfs::FuzzFolder(bytes);
  if (data[0] % 3 == 1) galley::vfs::FuzzList(bytes);
  if (data[0] % 3 == 2) galley::vfs::FuzzJson(bytes);
  return 0;
}
