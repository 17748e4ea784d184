#include "tests/testing/served.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

#include "common/base/status_macros.h"
#include "common/tree/tree.h"

namespace galley::store {
namespace {

using Words = std::vector<std::string>;

constexpr size_t kPieceBytes = 64 << 10;

Served Refusal(const absl::Status& status) {
  const ServedKind kind = absl::IsNotFound(status)   ? ServedKind::kAbsent
                          : absl::IsDataLoss(status) ? ServedKind::kRefused
                                                     : ServedKind::kFailed;
  return {.kind = kind, .why = status.ToString()};
}

Served ReadWhole(Store& store, const Digest& digest) {
  const absl::StatusOr<Blob> blob = store.Get(digest);
  if (!blob.ok()) return Refusal(blob.status());
  if (Digest::Of(**blob) != digest) return {.kind = ServedKind::kWrong, .why = "Get"};
  return {};
}

// Reads in pieces. A reader that is refused at the end must not have got all bytes.
Served ReadPieces(Store& store, const Digest& digest) {
  const absl::StatusOr<std::unique_ptr<BlobReader>> reader = store.NewReader(digest, 0);
  if (!reader.ok()) return Refusal(reader.status());
  std::string bytes;
  while (true) {
    const absl::StatusOr<std::string_view> piece = (*reader)->Next(kPieceBytes);
    if (!piece.ok() && bytes.size() < digest.size_bytes()) return Refusal(piece.status());
    if (!piece.ok() || piece->empty()) break;
    bytes += *piece;
  }
  if (Digest::Of(bytes) != digest) return {.kind = ServedKind::kWrong, .why = "NewReader"};
  return {};
}

Served ReadBlob(Store& store, const Digest& digest) {
  const Served pieces = ReadPieces(store, digest);
  if (pieces.kind == ServedKind::kWrong) return pieces;
  // By now, bytes that a reader refused are in quarantine.
  Served whole = ReadWhole(store, digest);
  return pieces.kind == ServedKind::kRight || whole.kind == ServedKind::kWrong ? whole : pieces;
}

bool IsOneOf(const Words& words, std::string_view bytes) {
  return std::find(words.begin() + 2, words.end(), Digest::Of(bytes).ToString()) != words.end();
}

Served ReadResult(Store& store, const Digest& key, const Words& words) {
  const auto results = store.Results(std::span(&key, 1));
  if (!results.ok()) return Refusal(results.status());
  if (!results->front().has_value()) return {.kind = ServedKind::kAbsent, .why = "no result"};
  if (!IsOneOf(words, *results->front())) return {.kind = ServedKind::kWrong, .why = "Results"};
  return {};
}

Served ReadSets(Store& store, const Digest& key, const Words& words) {
  const auto sets = store.ObservationSets(std::span(&key, 1));
  if (!sets.ok()) return Refusal(sets.status());
  for (const std::string& set : sets->front()) {
    if (!IsOneOf(words, set)) return {.kind = ServedKind::kWrong, .why = "ObservationSets"};
  }
  if (sets->front().size() + 2 < words.size())
    return {.kind = ServedKind::kAbsent, .why = "not all of the sets"};
  return {};
}

Served ReadTree(Store& store, const std::string& platform, const Digest& root) {
  const auto roots = store.Roots("");
  if (!roots.ok()) return Refusal(roots.status());
  const auto newest = std::find_if(roots->begin(), roots->end(), [&](const PublishedRoot& one) {
    return one.platform == platform;
  });
  if (newest == roots->end() || newest->root != root)
    return {.kind = ServedKind::kAbsent, .why = "it is not the newest root"};
  const auto files = tree::ListTree(root, [&](const Digest& digest) { return store.Get(digest); });
  if (!files.ok()) return Refusal(files.status());
  for (const tree::TreeFile& file : *files) {
    Served served = ReadBlob(store, file.digest);
    if (served.kind == ServedKind::kRight) continue;
    served.why += ": " + file.path;
    return served;
  }
  return {};
}

}  // namespace

std::string_view NameOf(ServedKind kind) {
  static constexpr std::string_view kNames[] = {"right", "absent", "refused", "WRONG", "failed"};
  return kNames[static_cast<size_t>(kind)];
}

Served ReadServed(Store& store, std::string_view line) {
  std::istringstream stream{std::string(line)};
  const Words words{std::istream_iterator<std::string>(stream), {}};
  const absl::StatusOr<Digest> digest =
      words.size() < 2 ? absl::InvalidArgumentError("no such line")
                       : Digest::Parse(words[0] == "tree" ? words.back() : words[1]);
  if (!digest.ok()) return Refusal(digest.status());
  if (words[0] == "blob") return ReadBlob(store, *digest);
  if (words[0] == "result") return ReadResult(store, *digest, words);
  if (words[0] == "set") return ReadSets(store, *digest, words);
  if (words[0] == "tree") return ReadTree(store, words[1], *digest);
  return {.kind = ServedKind::kFailed, .why = "no such line"};
}

}  // namespace galley::store
