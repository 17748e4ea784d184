// LedgerFuzz: the files that staging left in a sandbox, after anybody wrote to them: "<length of
// the marker, 2 bytes><marker><pending>", without a pending file if no bytes are left for it. If
// the highest bit of the length is set, there is a .galley-root.files as well: "<length of the
// marker, 2 bytes><length of that file, 2 bytes><marker><that file><pending>".
//
// A fuzzer cannot find a checksum: "@" in the place of a checksum stands for the right checksum,
// and "@" at the end of a line "/files <checksum> <n> @" for the size and the stamp of
// .galley-root.files.
//
// A ledger that is read has only plain paths, because files at these paths are removed, and reads
// back the same after it is written.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "director/stage/ledger.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Returns the place of the word `word` in the line that begins with `start`, if that word is "@";
// 0: the word after `start`.
std::optional<size_t> PlaceIn(std::string_view text, std::string_view start, int word = 0) {
  size_t line = 0;
  while (!text.substr(line).starts_with(start)) {
    line = text.find('\n', line);
    if (line++ == text.npos) return std::nullopt;
  }
  const size_t end = std::min(text.size(), text.find('\n', line));
  size_t at = line + start.size();
  for (; word > 0 && at < end; --word) at = std::min(end, text.find(' ', at)) + 1;
  const bool is_meant = at < end && text[at] == '@' && (at + 1 == end || text[at + 1] == ' ');
  return is_meant ? std::optional(at) : std::nullopt;
}

void Put(std::string& text, std::optional<size_t> at, std::string_view what) {
  if (at) text.replace(*at, 1, what);
}

// Puts the right checksum for "@" in line 2 of a marker, and returns it.
std::string SealMarker(std::string& text) {
  const size_t first = text.find('\n');
  if (first == text.npos) return "";
  for (const std::string_view start : {"/ ", "// "}) {
    const std::string line = fmt::format("{}@\n", start);
    if (text.compare(first + 1, line.size(), line) != 0) continue;
    const std::string sum =
        Digest::Of(text.substr(0, first + 1) + text.substr(first + 1 + line.size())).hex();
    text.replace(first + 1 + start.size(), 1, sum);
    return sum;
  }
  return "";
}

struct Texts {
  std::string marker;
  std::optional<std::string> files;
  std::string pending;
};

std::optional<Texts> TextsOf(std::string_view bytes) {
  const auto take_size = [&]() -> std::optional<size_t> {
    if (bytes.size() < 2) return std::nullopt;
    const size_t size = static_cast<uint8_t>(bytes[0]) | size_t{static_cast<uint8_t>(bytes[1])}
                                                             << 8;
    bytes.remove_prefix(2);
    return size;
  };
  const auto take = [&](size_t size) {
    const std::string text(bytes.substr(0, size));
    bytes.remove_prefix(text.size());
    return text;
  };
  constexpr size_t kHasFiles = 0x8000;
  const std::optional<size_t> marker_size = take_size();
  if (!marker_size) return std::nullopt;
  std::optional<size_t> files_size;
  if ((*marker_size & kHasFiles) != 0 && !(files_size = take_size())) return std::nullopt;
  Texts texts;
  texts.marker = take(*marker_size & ~kHasFiles);
  if (files_size) texts.files = take(*files_size);
  texts.pending = bytes;
  return texts;
}

void Write(Sandbox& sandbox, std::string_view name, const std::optional<std::string>& text) {
  GALLEY_CHECK(text ? sandbox.Write(name, *text, false).ok() : sandbox.RemoveFile(name).ok());
}

void WriteAll(Sandbox& sandbox, Texts texts) {
  const std::string seal = texts.files ? SealMarker(*texts.files) : "";
  Write(sandbox, kFilesName, texts.files);
  const Node node = sandbox.Look(kFilesName).value();
  Put(texts.marker, PlaceIn(texts.marker, "/files ", 2),
      fmt::format("{} {} {} {}", node.size_bytes, node.stamp.mtime_ns, node.stamp.ctime_ns,
                  node.stamp.inode));
  Put(texts.marker, PlaceIn(texts.marker, "/files "), seal);
  SealMarker(texts.marker);
  Put(texts.pending, PlaceIn(texts.pending, "files "), seal);
  if (const auto sum = PlaceIn(texts.pending, "sum "); sum && *sum >= 4)
    Put(texts.pending, sum, Digest::Of(texts.pending.substr(0, *sum - 4)).hex());
  Write(sandbox, kMarkerName, texts.marker);
  Write(sandbox, kPendingName, texts.pending.empty() ? std::nullopt : std::optional(texts.pending));
}

// Checks that the whole ledger says what the brief ledger says, unless the other file is damaged.
void CheckBrief(const BriefLedger& brief, const Ledger& ledger) {
  for (const auto& [path, stamp] : brief.replaced) GALLEY_CHECK(tree::IsPlainPath(path));
  if (!ledger.damage.empty()) return;
  GALLEY_CHECK(ledger.exact == brief.root && ledger.files.size() == brief.files &&
               ledger.stamps.size() == brief.files && ledger.is_whole && ledger.is_closed);
}

void CheckReplacing(Sandbox& sandbox, BriefLedger brief, const Ledger& ledger) {
  GALLEY_CHECK(BeginReplacing(sandbox, brief, brief.root).ok());
  const Ledger meanwhile = ReadLedger(sandbox).value();
  GALLEY_CHECK(!meanwhile.exact);
  GALLEY_CHECK(!ledger.damage.empty() || meanwhile.files == ledger.files);
  GALLEY_CHECK(EndReplacing(sandbox, brief).ok());
  const auto again = ReadBriefLedger(sandbox).value();
  GALLEY_CHECK(again && again->root == brief.root && again->seal == brief.seal &&
               again->files == brief.files && again->replaced == brief.replaced);
}

void Check(Sandbox& sandbox, const Texts& texts) {
  WriteAll(sandbox, texts);
  const Ledger ledger = ReadLedger(sandbox).value();
  for (const std::string& path : ledger.files) GALLEY_CHECK(tree::IsPlainPath(path));
  for (const PlannedFile& file : ledger.planned) GALLEY_CHECK(tree::IsPlainPath(file.path));
  if (const auto brief = ReadBriefLedger(sandbox).value()) {
    CheckBrief(*brief, ledger);
    CheckReplacing(sandbox, *brief, ledger);
  } else if (const auto made = BriefOf(ledger)) {
    CheckReplacing(sandbox, *made, ledger);
  }
  if (!ledger.exact) return;
  GALLEY_CHECK(EndStaging(sandbox, *ledger.exact, ledger.files, ledger.stamps).ok());
  const Ledger again = ReadLedger(sandbox).value();
  GALLEY_CHECK(again.exact == ledger.exact && again.files == ledger.files &&
               again.stamps == ledger.stamps);
}

}  // namespace
}  // namespace galley::director

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  static const std::string& folder =
      *new std::string(galley::MakeTemporaryDirectory("/dev/shm", "galley-fuzz-").value());
  static const bool is_set = [] {
    galley::InitLog("fuzz", galley::LogLevel::kOff, "");
    return std::atexit([] { (void)galley::RemoveAll(folder); }) == 0;
  }();
  GALLEY_CHECK(is_set);
  const auto texts = TextsOf({reinterpret_cast<const char*>(data), size});
  auto sandbox = Sandbox::Open(folder);
  GALLEY_CHECK(sandbox.ok());
  if (texts) Check(*sandbox, *texts);
  return 0;
}
