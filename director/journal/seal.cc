#include "director/journal/seal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <vector>

#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/sealed_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kSealKind = "galley-journal";
constexpr int kSealVersion = 1;
constexpr std::string_view kFileKey = "file";
constexpr std::string_view kBeginKey = "begins";  // for a file that may have grown since
constexpr uint64_t kSealBytesMax = 16 << 20;

// Says whether the name is "<number><suffix>", as RocksDB names tables and logs. A person may have
// a notes.log there.
bool IsNumbered(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix) || name.size() == suffix.size()) return false;
  name.remove_suffix(suffix.size());
  return std::ranges::all_of(name, [](char c) { return '0' <= c && c <= '9'; });
}

bool IsTable(std::string_view name) { return IsNumbered(name, ".sst"); }

// Says whether opening depends on the file.
bool IsSealed(std::string_view name) {
  return IsTable(name) || IsNumbered(name, ".log") || name == "CURRENT" ||
         name.starts_with("MANIFEST-");
}

// Returns "<name> <size>", and for small files " <SHA-256>".
absl::StatusOr<std::string> Describe(const std::string& directory, const std::string& name) {
  const std::string path = JoinPath(directory, name);
  ASSIGN_OR_RETURN(const FileStat stat, StatFile(path, /*follow_links=*/false));
  if (!S_ISREG(stat.mode)) return absl::DataLossError("it is no regular file");
  if (IsTable(name)) return fmt::format("{} {}", name, stat.size_bytes);
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return fmt::format("{} {} {}", name, bytes.size(), Digest::Of(bytes).hex());
}

std::string Described(std::string_view name, std::string_view bytes) {
  return fmt::format("{} {} {}", name, bytes.size(), Digest::Of(bytes).hex());
}

// Describes only the start of the file: no more bytes than `line` says.
absl::StatusOr<std::string> DescribeBeginning(const std::string& directory, const std::string& name,
                                              const std::string& line) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(JoinPath(directory, name)));
  size_t size = 0;
  if (line.size() > name.size() + 1)
    std::from_chars(line.data() + name.size() + 1, line.data() + line.size(), size);
  return Described(name, std::string_view(bytes).substr(0, size));
}

absl::Status Write(const std::string& directory, const std::vector<SealedLine>& lines) {
  return WriteFileAtomic(JoinPath(directory, kSealName), Seal(kSealKind, kSealVersion, lines));
}

}  // namespace

bool IsJournalFileName(std::string_view name) {
  if (name.find(".broken-") != std::string_view::npos) return false;  // PutAside
  return IsSealed(name) || name == kSealName || name == "IDENTITY" || name == "LOCK" ||
         name == "LOG" || name.starts_with("LOG.old.") || name.starts_with("OPTIONS-") ||
         IsNumbered(name, ".dbtmp") || name.starts_with(fmt::format("{}.", kSealName));
}

absl::Status WriteSeal(const std::string& journal_directory) {
  std::vector<SealedLine> lines;
  std::error_code error;
  for (const std::string& name : NamesIn(journal_directory, &error)) {
    if (!IsSealed(name)) continue;
    ASSIGN_OR_RETURN(std::string file, Describe(journal_directory, name));
    lines.push_back({std::string(kFileKey), std::move(file)});
  }
  if (error) return ErrnoStatus(error.value(), "read folder", journal_directory);
  std::ranges::sort(lines,
                    [](const SealedLine& a, const SealedLine& b) { return a.value < b.value; });
  return Write(journal_directory, lines);
}

absl::Status WriteOpenSeal(const std::string& journal_directory) {
  ASSIGN_OR_RETURN(std::string current, ReadFile(JoinPath(journal_directory, "CURRENT")));
  std::vector<SealedLine> lines = {{std::string(kFileKey), Described("CURRENT", current)}};
  while (!current.empty() && current.back() == '\n') current.pop_back();
  ASSIGN_OR_RETURN(const std::string manifest, ReadFile(JoinPath(journal_directory, current)));
  lines.push_back({std::string(kBeginKey), Described(current, manifest)});
  return Write(journal_directory, lines);
}

absl::Status CheckSeal(const std::string& journal_directory) {
  const absl::StatusOr<std::string> text =
      ReadFile(JoinPath(journal_directory, kSealName), kSealBytesMax);
  // The folder may be absent, or a file.
  if (absl::IsNotFound(text.status()) || !FileExists(JoinPath(journal_directory, kSealName)))
    return absl::OkStatus();
  if (absl::IsResourceExhausted(text.status())) return text.status();
  // The seal is not synced: a power cut may leave its name and none of its bytes.
  if (text.ok() && text->empty()) return absl::OkStatus();
  const auto lines = text.ok() ? Unseal(kSealKind, kSealVersion, *text) : text.status();
  if (!lines.ok()) return DataLossError("{}: {}", kSealName, MessageOf(lines.status()));
  for (const SealedLine& line : *lines) {
    if (line.key != kFileKey && line.key != kBeginKey) continue;
    const std::string name = line.value.substr(0, line.value.find(' '));
    const absl::StatusOr<std::string> present =
        line.key == kBeginKey ? DescribeBeginning(journal_directory, name, line.value)
                              : Describe(journal_directory, name);
    if (absl::IsResourceExhausted(present.status())) return present.status();
    if (absl::IsNotFound(present.status())) return DataLossError("its file {} is gone", name);
    if (!present.ok())
      return DataLossError("its file {} cannot be used ({})", name, MessageOf(present.status()));
    if (*present != line.value) return DataLossError("its file {} is not as it was left", name);
  }
  return absl::OkStatus();
}

absl::Status RemoveSeal(const std::string& journal_directory) {
  const std::string path = JoinPath(journal_directory, kSealName);
  if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return absl::OkStatus();
  return ErrnoStatus(errno, "remove", path);
}

}  // namespace galley::director
