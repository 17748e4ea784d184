#include "director/stage/ledger.h"

#include <algorithm>
#include <functional>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/parse_whole.h"
#include "common/base/repairs.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr uint64_t kLedgerBytesMax = uint64_t{1} << 30;
constexpr uint64_t kBriefBytesMax = uint64_t{16} << 20;

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

void AddRoot(Ledger& ledger, const Digest& root) {
  if (std::ranges::find(ledger.roots, root) == ledger.roots.end()) ledger.roots.push_back(root);
}

// Ledgers are sorted, unless another program wrote one.
void Sort(std::vector<std::string>& files) {
  if (std::ranges::adjacent_find(files, std::greater_equal()) != files.end()) SortUnique(files);
}

constexpr size_t kStampBytes = 24;
// No path of a tree is like these words.
constexpr std::string_view kAllFollow = "/";
constexpr std::string_view kSealFollows = "/ ";
constexpr std::string_view kBriefSealFollows = "// ";
constexpr std::string_view kFilesAre = "/files ";
constexpr std::string_view kReplaced = "/at ";
constexpr std::string_view kEnd = "end";
constexpr std::string_view kSum = "sum ";

void PutNumber(std::string& bytes, uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8)
    bytes.push_back(static_cast<char>(value >> shift & 0xff));
}
uint64_t GetNumber(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

// Damaged stamps are as good as none: the files are compared by digest.
std::vector<FileStamp> ReadStamps(std::string_view bytes) {
  std::vector<FileStamp> stamps;
  if (bytes.size() % kStampBytes != 0) return stamps;
  for (size_t at = 0; at < bytes.size(); at += kStampBytes) {
    stamps.push_back({.mtime_ns = static_cast<int64_t>(GetNumber(bytes, at)),
                      .ctime_ns = static_cast<int64_t>(GetNumber(bytes, at + 8)),
                      .inode = GetNumber(bytes, at + 16)});
  }
  return stamps;
}

// Returns the checksum of the text before a line and after it.
std::string SumOf(std::string_view before, std::string_view after) {
  DigestBuilder builder;
  builder.Add(before);
  builder.Add(after);
  return builder.Finish().hex();
}

// Checks line 2 of a marker. OK without `is_sealed`: an older Galley wrote the marker.
absl::Status CheckMarker(std::string_view text, Ledger& ledger) {
  const size_t first = text.find('\n');
  if (first == std::string_view::npos) return absl::InvalidArgumentError("it is cut off");
  const std::string_view rest = text.substr(first + 1);
  const std::string_view second = rest.substr(0, rest.find('\n'));
  const bool is_brief = second.starts_with(kBriefSealFollows);
  ledger.is_sealed = is_brief || second.starts_with(kSealFollows);
  if (ledger.is_sealed) {
    const std::string_view after = rest.substr(std::min(rest.size(), second.size() + 1));
    const std::string_view seal =
        second.substr(is_brief ? kBriefSealFollows.size() : kSealFollows.size());
    if (SumOf(text.substr(0, first + 1), after) != seal)
      return absl::InvalidArgumentError("its checksum is wrong");
    if (!is_brief) ledger.seal = seal;
  } else if ((text.find('\0') != std::string_view::npos && second != kAllFollow) ||
             rest.find(fmt::format("\n{}", kFilesAre)) != std::string_view::npos) {
    return absl::InvalidArgumentError("its checksum is gone");
  }
  return absl::OkStatus();
}

// --- The marker that says what was replaced.

std::string StampText(const FileStamp& stamp) {
  return fmt::format("{} {} {}", stamp.mtime_ns, stamp.ctime_ns, stamp.inode);
}

// Takes a word, and the space behind it, from the beginning of `text`.
std::string_view TakeWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

template <typename Number>
bool TakeNumber(std::string_view& text, Number& number) {
  const auto read = ParseWhole<Number>(TakeWord(text));
  if (read) number = *read;
  return read.has_value();
}

bool TakeStamp(std::string_view& text, FileStamp& stamp) {
  return TakeNumber(text, stamp.mtime_ns) && TakeNumber(text, stamp.ctime_ns) &&
         TakeNumber(text, stamp.inode);
}

bool IsBrief(std::string_view marker) {
  const size_t first = marker.find('\n');
  return first != marker.npos && marker.substr(first + 1).starts_with(kBriefSealFollows);
}

// REQUIRES: IsBrief.
absl::StatusOr<BriefLedger> ReadBrief(std::string_view text) {
  const absl::Status wrong = absl::InvalidArgumentError("its lines are wrong");
  Ledger checked;
  RETURN_IF_ERROR(CheckMarker(text, checked));
  const std::vector<std::string_view> lines = LinesOf(text);
  if (lines.size() < 3 || !lines[2].starts_with(kFilesAre)) return wrong;
  BriefLedger brief;
  brief.is_of_marker = false;
  ASSIGN_OR_RETURN(brief.root, Digest::Parse(lines[0]));
  std::string_view rest = lines[2].substr(kFilesAre.size());
  brief.seal = TakeWord(rest);
  if (!TakeNumber(rest, brief.files) || !TakeNumber(rest, brief.size_bytes) ||
      !TakeStamp(rest, brief.stamp) || !rest.empty())
    return wrong;
  for (size_t i = 3; i < lines.size(); ++i) {
    if (!lines[i].starts_with(kReplaced)) return wrong;
    rest = lines[i].substr(kReplaced.size());
    FileStamp stamp;
    if (!TakeStamp(rest, stamp) || !tree::IsPlainPath(rest)) return wrong;
    brief.replaced.insert_or_assign(std::string(rest), stamp);
  }
  return brief;
}

std::string BriefText(const BriefLedger& brief) {
  const std::string first = brief.root.ToString() + "\n";
  std::string text = fmt::format("{}{} {} {} {}\n", kFilesAre, brief.seal, brief.files,
                                 brief.size_bytes, StampText(brief.stamp));
  for (const auto& [path, stamp] : brief.replaced)
    text.append(kReplaced).append(StampText(stamp)).append(" ").append(path).push_back('\n');
  return fmt::format("{}{}{}\n{}", first, kBriefSealFollows, SumOf(first, text), text);
}

absl::Status ReadMarker(std::string_view text, Ledger& ledger) {
  RETURN_IF_ERROR(CheckMarker(text, ledger));
  if (const size_t end = text.find('\0'); end != std::string_view::npos) {
    ledger.stamps = ReadStamps(text.substr(end + 1));
    text = text.substr(0, end);
  }
  const std::vector<std::string_view> lines = LinesOf(text);
  if (lines.empty()) return absl::InvalidArgumentError("it is empty");
  ASSIGN_OR_RETURN(const Digest root, Digest::Parse(lines.front()));
  ledger.exact = root;
  AddRoot(ledger, root);
  ledger.is_whole = ledger.is_sealed || (lines.size() > 1 && lines[1] == kAllFollow);
  for (size_t i = 1; i < lines.size(); ++i) {
    // Removal follows these paths: only plain paths count.
    if (tree::IsPlainPath(lines[i])) ledger.files.emplace_back(lines[i]);
  }
  return absl::OkStatus();
}

// nullopt: absent, or unreadable, which is added to `damage`.
absl::StatusOr<std::optional<std::string>> ReadOwn(Sandbox& sandbox, std::string_view name,
                                                   std::vector<std::string>& damage) {
  ASSIGN_OR_RETURN(const Node node, sandbox.Look(name));
  if (node.kind == NodeKind::kFolder) damage.push_back(sandbox.Full(name) + ": it is a folder");
  absl::StatusOr<std::optional<std::string>> text = sandbox.Read(name, kLedgerBytesMax);
  if (text.ok()) return text;
  damage.push_back(fmt::format("{}: {}", sandbox.Full(name), MessageOf(text.status())));
  return std::nullopt;
}

// Returns the files that .galley-root.files names, if `seal` is its checksum.
absl::StatusOr<Ledger> ReadFiles(Sandbox& sandbox, std::string_view seal) {
  const auto wrong = [&](std::string_view how) {
    return InvalidArgumentError("the files that it means are not known: {} {}",
                                sandbox.Full(kFilesName), how);
  };
  ASSIGN_OR_RETURN(const Node node, sandbox.Look(kFilesName));
  if (node.kind != NodeKind::kFile) return wrong("is gone");
  const absl::StatusOr<std::optional<std::string>> text = sandbox.Read(kFilesName, kLedgerBytesMax);
  if (!text.ok()) return wrong(MessageOf(text.status()));
  if (!text->has_value()) return wrong("is gone");
  Ledger files;
  if (!ReadMarker(**text, files).ok()) return wrong("is damaged");
  if (files.seal.empty() || files.seal != seal) return wrong("is of another time");
  Sort(files.files);
  files.written_ns = node.stamp.mtime_ns;
  return files;
}

// Reads the whole ledger for a marker that names only replaced files.
absl::Status ReadWholeOf(Sandbox& sandbox, std::string_view marker, Ledger& ledger) {
  ASSIGN_OR_RETURN(const BriefLedger brief, ReadBrief(marker));
  ASSIGN_OR_RETURN(ledger, ReadFiles(sandbox, brief.seal));
  const absl::Status wrong = absl::InvalidArgumentError("it means other files than there are");
  if (ledger.files.size() != brief.files || ledger.stamps.size() != brief.files) return wrong;
  for (const auto& [path, stamp] : brief.replaced) {
    const auto at = std::lower_bound(ledger.files.begin(), ledger.files.end(), path);
    if (at == ledger.files.end() || *at != path) return wrong;
    ledger.stamps[static_cast<size_t>(at - ledger.files.begin())] = stamp;
  }
  // written_ns stays the time of the other file, so that each replaced file is compared by digest
  // once. The time of the marker says nothing: the marker repeats stamps that nobody has looked at
  // since an earlier cook.
  ledger.exact = brief.root;
  ledger.roots = {brief.root};
  ledger.seal.clear();
  return absl::OkStatus();
}

constexpr std::string_view kRoot = "root ";
constexpr std::string_view kPath = "path ";
constexpr std::string_view kNext = "next ";
constexpr std::string_view kFiles = "files ";

// Format: "<hex>/<size> <path>".
absl::Status ReadPlanned(std::string_view text, Ledger& ledger) {
  const size_t space = text.find(' ');
  ASSIGN_OR_RETURN(const Digest digest, Digest::Parse(text.substr(0, space)));
  const std::string_view path =
      space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  if (!tree::IsPlainPath(path)) return absl::InvalidArgumentError("'next' names no plain path");
  ledger.planned.push_back({std::string(path), digest});
  return absl::OkStatus();
}

// Returns the lines before the sum; all lines if an older Galley wrote the file.
absl::StatusOr<std::string_view> CheckPending(std::string_view text, Ledger& ledger) {
  if (!text.empty() && !text.ends_with('\n')) return absl::InvalidArgumentError("it is cut off");
  const size_t last = text.ends_with('\n') ? text.rfind('\n', text.size() - 2) : text.npos;
  const size_t begin = last == text.npos ? 0 : last + 1;
  const std::string_view line = text.substr(begin);
  if (!line.starts_with(kSum)) return text;
  ledger.is_sealed = true;
  if (line.substr(0, line.size() - 1) !=
      fmt::format("{}{}", kSum, SumOf(text.substr(0, begin), {})))
    return absl::InvalidArgumentError("its checksum is wrong");
  return text.substr(0, begin);
}

absl::Status ReadPending(Sandbox& sandbox, std::string_view file, Ledger& ledger) {
  ASSIGN_OR_RETURN(const std::string_view text, CheckPending(file, ledger));
  for (const std::string_view line : LinesOf(text)) {
    ledger.is_whole = line == kEnd;
    if (ledger.is_whole) continue;
    if (line.starts_with(kRoot)) {
      ASSIGN_OR_RETURN(const Digest root, Digest::Parse(line.substr(kRoot.size())));
      AddRoot(ledger, root);
    } else if (line.starts_with(kPath) && tree::IsPlainPath(line.substr(kPath.size()))) {
      ledger.files.emplace_back(line.substr(kPath.size()));
    } else if (line.starts_with(kNext)) {
      RETURN_IF_ERROR(ReadPlanned(line.substr(kNext.size()), ledger));
    } else if (line.starts_with(kFiles)) {
      ASSIGN_OR_RETURN(const Ledger files, ReadFiles(sandbox, line.substr(kFiles.size())));
      ledger.files.insert(ledger.files.end(), files.files.begin(), files.files.end());
    } else {
      return absl::InvalidArgumentError(
          "expected a line 'root <digest>', 'path <path>' or 'next <digest> <path>'");
    }
  }
  return absl::OkStatus();
}

// A folder cannot be replaced by a file.
absl::Status MoveFolderAside(Sandbox& sandbox, std::string_view name) {
  ASSIGN_OR_RETURN(const Node node, sandbox.Look(name));
  if (node.kind != NodeKind::kFolder) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string aside, PutAside(sandbox.Full(name)));
  NoteRepair(
      fmt::format("{}: it is a folder; it was moved aside to {}", sandbox.Full(name), aside));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Ledger> ReadLedger(Sandbox& sandbox) {
  std::vector<std::string> damage;
  ASSIGN_OR_RETURN(const std::optional<std::string> marker, ReadOwn(sandbox, kMarkerName, damage));
  if (marker) {
    Ledger ledger;
    ASSIGN_OR_RETURN(const Node node, sandbox.Look(kMarkerName));
    ledger.written_ns = node.stamp.mtime_ns;
    const absl::Status status =
        IsBrief(*marker) ? ReadWholeOf(sandbox, *marker, ledger) : ReadMarker(*marker, ledger);
    Sort(ledger.files);
    // A stage may be interrupted when one file is there and the other is not removed yet.
    ASSIGN_OR_RETURN(const Node pending, sandbox.Look(kPendingName));
    ledger.is_closed = pending.kind == NodeKind::kAbsent;
    if (status.ok()) return ledger;
    damage.push_back(fmt::format("{}: {}", sandbox.Full(kMarkerName), MessageOf(status)));
  }
  Ledger ledger;
  ASSIGN_OR_RETURN(const std::optional<std::string> pending,
                   ReadOwn(sandbox, kPendingName, damage));
  if (pending) {
    const absl::Status status = ReadPending(sandbox, *pending, ledger);
    if (!status.ok())
      damage.push_back(fmt::format("{}: {}", sandbox.Full(kPendingName), MessageOf(status)));
    Sort(ledger.files);
    std::ranges::sort(ledger.planned,
                      [](const PlannedFile& a, const PlannedFile& b) { return a.path < b.path; });
  }
  for (const std::string& one : damage) LogInfo("stage: {}: not used, or in part", one);
  ledger.damage = std::move(damage);
  return ledger;
}

absl::StatusOr<std::optional<BriefLedger>> ReadBriefLedger(Sandbox& sandbox) {
  ASSIGN_OR_RETURN(const Node pending, sandbox.Look(kPendingName));
  ASSIGN_OR_RETURN(const Node marker, sandbox.Look(kMarkerName));
  if (pending.kind != NodeKind::kAbsent || marker.kind != NodeKind::kFile ||
      marker.size_bytes > kBriefBytesMax)
    return std::nullopt;
  const absl::StatusOr<std::optional<std::string>> text = sandbox.Read(kMarkerName, kBriefBytesMax);
  if (!text.ok() || !text->has_value() || !IsBrief(**text)) return std::nullopt;
  const absl::StatusOr<BriefLedger> brief = ReadBrief(**text);
  if (!brief.ok()) return std::nullopt;
  ASSIGN_OR_RETURN(const Node files, sandbox.Look(kFilesName));
  const bool is_known = files.kind == NodeKind::kFile && files.size_bytes == brief->size_bytes &&
                        files.stamp == brief->stamp;
  return is_known ? std::optional(*brief) : std::nullopt;
}

std::optional<BriefLedger> BriefOf(const Ledger& ledger) {
  const bool is_right = ledger.exact.has_value() && ledger.is_closed && ledger.is_whole &&
                        ledger.damage.empty() && ledger.files.size() == ledger.stamps.size();
  if (!is_right || ledger.seal.empty()) return std::nullopt;
  return BriefLedger{.root = *ledger.exact, .seal = ledger.seal, .files = ledger.files.size()};
}

void NoteLedgerHealed(const Ledger& ledger) {
  for (const std::string& one : ledger.damage)
    NoteRepair(one +
               "; the files of the sandbox were compared with the root, and it was written "
               "anew");
}

absl::Status BeginStaging(Sandbox& sandbox, const Ledger& meanwhile) {
  std::string text;
  for (const Digest& root : meanwhile.roots) {
    text.append(kRoot).append(root.ToString()).push_back('\n');
  }
  for (const std::string& path : meanwhile.files) {
    text.append(kPath).append(path).push_back('\n');
  }
  for (const PlannedFile& file : meanwhile.planned)
    text.append(kNext).append(file.digest.ToString()).append(" ").append(file.path).push_back('\n');
  if (meanwhile.is_whole) text.append(kEnd).push_back('\n');
  text.append(fmt::format("{}{}\n", kSum, SumOf(text, {})));
  RETURN_IF_ERROR(MoveFolderAside(sandbox, kPendingName));
  RETURN_IF_ERROR(MoveFolderAside(sandbox, kMarkerName));
  RETURN_IF_ERROR(sandbox.Write(kPendingName, text, false));
  return sandbox.RemoveFile(kMarkerName);
}

absl::Status BeginReplacing(Sandbox& sandbox, BriefLedger& ledger, const Digest& root) {
  std::string text;
  for (const Digest& one : {ledger.root, root})
    text.append(kRoot).append(one.ToString()).push_back('\n');
  text.append(fmt::format("{}{}\n{}\n", kFiles, ledger.seal, kEnd));
  text.append(fmt::format("{}{}\n", kSum, SumOf(text, {})));
  RETURN_IF_ERROR(MoveFolderAside(sandbox, kPendingName));
  RETURN_IF_ERROR(MoveFolderAside(sandbox, kFilesName));
  RETURN_IF_ERROR(sandbox.Write(kPendingName, text, false));
  ledger.root = root;
  if (!ledger.is_of_marker) return sandbox.RemoveFile(kMarkerName);
  RETURN_IF_ERROR(sandbox.Move(kMarkerName, kFilesName));
  ASSIGN_OR_RETURN(const Node files, sandbox.Look(kFilesName));
  ledger.is_of_marker = false;
  ledger.size_bytes = files.size_bytes;
  ledger.stamp = files.stamp;
  return absl::OkStatus();
}

absl::Status EndReplacing(Sandbox& sandbox, const BriefLedger& ledger) {
  RETURN_IF_ERROR(MoveFolderAside(sandbox, kMarkerName));
  RETURN_IF_ERROR(sandbox.Write(kMarkerName, BriefText(ledger), false));
  return sandbox.RemoveFile(kPendingName);
}

absl::Status EndStaging(Sandbox& sandbox, const Digest& root, std::span<const std::string> files,
                        const std::vector<FileStamp>& stamps) {
  const std::string first = root.ToString() + "\n";
  std::string text;
  for (const std::string& path : files) text.append(path).push_back('\n');
  text += '\0';
  text.reserve(text.size() + stamps.size() * kStampBytes);
  for (const FileStamp& stamp : stamps) {
    PutNumber(text, static_cast<uint64_t>(stamp.mtime_ns));
    PutNumber(text, static_cast<uint64_t>(stamp.ctime_ns));
    PutNumber(text, stamp.inode);
  }
  text.insert(0, fmt::format("{}{}{}\n", first, kSealFollows, SumOf(first, text)));
  RETURN_IF_ERROR(MoveFolderAside(sandbox, kMarkerName));
  RETURN_IF_ERROR(MoveFolderAside(sandbox, kPendingName));
  RETURN_IF_ERROR(sandbox.Write(kMarkerName, text, false));
  RETURN_IF_ERROR(sandbox.RemoveFile(kPendingName));
  // No ledger names the folder any more.
  RETURN_IF_ERROR(MoveFolderAside(sandbox, kFilesName));
  return sandbox.RemoveFile(kFilesName);
}

}  // namespace galley::director
