#include "common/store/local/maintenance/verify_cursor.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/store/local/segment_format.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr std::string_view kFirstLine = "galley-verify 1";
constexpr uint64_t kBytesMax = 64 << 20;

std::string CursorPath(const std::string& store_directory) {
  return JoinPath(store_directory, "verify");
}

absl::Status Wrong(std::string_view what) {
  return DataLossError("the cursor of a verify: {}", what);
}

// The words of `line` behind `name`, of which there are `count`.
absl::StatusOr<std::vector<std::string>> Words(std::string_view line, std::string_view name,
                                               size_t count) {
  std::vector<std::string> words = absl::StrSplit(absl::string_view(line.data(), line.size()), ' ');
  if (words.size() != count + 1 || words[0] != name) return Wrong(fmt::format("no `{}`", name));
  words.erase(words.begin());
  return words;
}

template <typename Number>
absl::Status ToNumber(const std::string& word, Number& number) {
  return absl::SimpleAtoi(word, &number) ? absl::OkStatus() : Wrong("no number");
}

// Without what would end the line.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

absl::StatusOr<VerifyCursor> DecodeLines(const std::vector<std::string_view>& lines) {
  if (lines.size() < 5 || lines[0] != kFirstLine) return Wrong("another version");
  VerifyCursor cursor;
  int64_t begun = 0;
  ASSIGN_OR_RETURN(const auto begun_words, Words(lines[1], "begun", 1));
  RETURN_IF_ERROR(ToNumber(begun_words[0], begun));
  cursor.begun = absl::FromUnixSeconds(begun);
  int phase = 0;
  ASSIGN_OR_RETURN(const auto at, Words(lines[2], "at", 3));
  RETURN_IF_ERROR(ToNumber(at[0], phase));
  if (phase < static_cast<int>(VerifyPhase::kBlobs) ||
      phase > static_cast<int>(VerifyPhase::kSalvage))
    return Wrong("another phase");
  cursor.phase = static_cast<VerifyPhase>(phase);
  if (at[1] != "-") {
    ASSIGN_OR_RETURN(cursor.after, Digest::Parse(at[1]));
  }
  RETURN_IF_ERROR(ToNumber(at[2], cursor.after_segment));
  ASSIGN_OR_RETURN(const auto read, Words(lines[3], "read", 2));
  RETURN_IF_ERROR(ToNumber(read[0], cursor.blobs));
  RETURN_IF_ERROR(ToNumber(read[1], cursor.bytes));
  ASSIGN_OR_RETURN(const auto untold, Words(lines[4], "untold", 1));
  RETURN_IF_ERROR(ToNumber(untold[0], cursor.problems_untold));
  constexpr std::string_view kProblem = "problem ";
  for (size_t i = 5; i < lines.size(); ++i) {
    if (!lines[i].starts_with(kProblem)) return Wrong("a line that is none of its");
    cursor.problems.emplace_back(lines[i].substr(kProblem.size()));
  }
  return cursor;
}

}  // namespace

std::string_view NameOf(VerifyPhase phase) {
  switch (phase) {
    case VerifyPhase::kBlobs:
      return "blobs";
    case VerifyPhase::kResults:
      return "results";
    case VerifyPhase::kActionResults:
      return "other programs' results";
    case VerifyPhase::kObservationSets:
      return "observation sets";
    case VerifyPhase::kRoots:
      return "roots";
    case VerifyPhase::kSegments:
      return "segments";
    case VerifyPhase::kSalvage:
      return "what is missing";
  }
  return "";
}

void VerifyCursor::AddProblem(std::string text) {
  if (problems.size() < kProblemsMax) {
    problems.push_back(OneLine(std::move(text)));
  } else {
    ++problems_untold;
  }
}

void VerifyCursor::EnterPhase(VerifyPhase next) {
  phase = next;
  after.reset();
  after_segment = 0;
}

std::string EncodeVerifyCursor(const VerifyCursor& cursor) {
  std::string text =
      fmt::format("{}\nbegun {}\nat {} {} {}\nread {} {}\nuntold {}\n", kFirstLine,
                  absl::ToUnixSeconds(cursor.begun), static_cast<int>(cursor.phase),
                  cursor.after.has_value() ? cursor.after->ToString() : "-", cursor.after_segment,
                  cursor.blobs, cursor.bytes, cursor.problems_untold);
  for (const std::string& problem : cursor.problems) text += fmt::format("problem {}\n", problem);
  return text + fmt::format("end {:016x}\n", Checksum(text));
}

absl::StatusOr<VerifyCursor> DecodeVerifyCursor(std::string_view text) {
  constexpr size_t kLastLineBytes = 4 + 16 + 1;
  if (text.size() < kLastLineBytes) return Wrong("it is cut off");
  const std::string_view last = text.substr(text.size() - kLastLineBytes);
  text.remove_suffix(kLastLineBytes);
  if (last != fmt::format("end {:016x}\n", Checksum(text)) || !text.ends_with('\n'))
    return Wrong("its bytes are wrong");
  text.remove_suffix(1);
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  absl::StatusOr<VerifyCursor> cursor = DecodeLines(lines);
  if (!cursor.ok()) return absl::DataLossError(cursor.status().message());
  return cursor;
}

absl::StatusOr<VerifyCursor> ReadVerifyCursor(const std::string& store_directory) {
  ASSIGN_OR_RETURN(const std::string text, ReadOwnFile(CursorPath(store_directory), kBytesMax));
  return DecodeVerifyCursor(text);
}

absl::Status WriteVerifyCursor(const std::string& store_directory, const VerifyCursor& cursor) {
  RETURN_IF_ERROR(EnsureWritableFile(CursorPath(store_directory)));
  return WriteFileAtomic(CursorPath(store_directory), EncodeVerifyCursor(cursor));
}

absl::Status RemoveVerifyCursor(const std::string& store_directory) {
  const std::string path = CursorPath(store_directory);
  RETURN_IF_ERROR(EnsureWritableFile(path));
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? absl::OkStatus()
                                                        : ErrnoStatus(errno, "remove", path);
}

}  // namespace galley::store
