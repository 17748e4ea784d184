#include "director/resident/cook_archive.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/base/digest.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "director/host/cook_numbers.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr std::string_view kAskFirstLine = "galley-cook-ask 1\n";
constexpr std::string_view kAskEnding = ".ask";
constexpr std::string_view kLogEnding = ".log";
constexpr uint64_t kAskBytesMax = 16 << 20;

absl::StatusOr<v1::CookAsk> ReadAsk(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kAskBytesMax));
  std::string_view rest = text;
  const size_t line = rest.find('\n', kAskFirstLine.size());
  v1::CookAsk ask;
  if (rest.starts_with(kAskFirstLine) && line != std::string_view::npos) {
    const std::string_view digest = rest.substr(0, line).substr(kAskFirstLine.size());
    rest.remove_prefix(line + 1);
    if (digest == Digest::Of(rest).ToString() && ask.ParseFromString(std::string(rest))) return ask;
  }
  return DataLossError("{} is damaged, or of another version", path);
}

}  // namespace

CookArchive::CookArchive(const std::string& state_directory)
    : state_(state_directory), folder_(JoinPath(state_directory, kCooksFolder)) {}

CookArchive::Begun CookArchive::Begin(uint32_t term) {
  base::MutexLock lock(mutex_);
  // A number is taken even if it could not be written down.
  const uint64_t number = last_ = TakeCookNumber(state_, term, last_);
  RemoveOld();
  return {.number = number, .log = CookLog::Begin(PathOf(number), {})};
}

std::shared_ptr<CookLog> CookArchive::BeginAgain(uint64_t number) const {
  // A director that was overtaken may still write to the old file.
  std::error_code error;
  std::filesystem::remove(PathOf(number), error);
  return CookLog::Begin(PathOf(number), {});
}

absl::Status CookArchive::Keep(uint64_t number, const v1::CookAsk& ask) const {
  const std::string bytes = ask.SerializeAsString();
  const std::string text = fmt::format("{}{}\n", kAskFirstLine, Digest::Of(bytes).ToString());
  RETURN_IF_ERROR(EnsureWritableFile(AskOf(number)));
  return WriteFileAtomic(AskOf(number), text + bytes, /*sync=*/true);
}

void CookArchive::Drop(uint64_t number) const {
  std::error_code error;
  std::filesystem::remove(AskOf(number), error);
}

bool CookArchive::IsKept(uint64_t number) const {
  std::error_code error;
  return std::filesystem::exists(AskOf(number), error);
}

std::vector<std::pair<uint64_t, v1::CookAsk>> CookArchive::Kept() const {
  std::vector<std::pair<uint64_t, v1::CookAsk>> kept;
  std::vector<uint64_t> numbers = Numbers(kAskEnding);
  std::ranges::reverse(numbers);
  for (const uint64_t number : numbers) {
    if (auto ask = ReadAsk(AskOf(number)); ask.ok()) {
      kept.emplace_back(number, *std::move(ask));
    } else {
      LogWarning("cook={} is not begun again: {}", number, MessageOf(ask.status()));
      Drop(number);
    }
  }
  return kept;
}

absl::StatusOr<std::shared_ptr<CookLog>> CookArchive::Find(uint64_t number) const {
  auto log = CookLog::Open(PathOf(number));
  if (!absl::IsNotFound(log.status())) return log;
  return NotFoundError(
      "there is no cook {} here: of the cooks of a resident director the last {} are kept", number,
      kKept);
}

std::string CookArchive::PathOf(uint64_t number) const {
  return JoinPath(folder_, fmt::format("{}{}", number, kLogEnding));
}

std::string CookArchive::AskOf(uint64_t number) const {
  return JoinPath(folder_, fmt::format("{}{}", number, kAskEnding));
}

std::vector<uint64_t> CookArchive::Numbers(std::string_view ending) const {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    uint64_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec == std::errc() && std::string_view(read.ptr) == ending) numbers.push_back(number);
  }
  std::sort(numbers.rbegin(), numbers.rend());
  return numbers;
}

void CookArchive::RemoveOld() const {
  const std::vector<uint64_t> numbers = Numbers(kLogEnding);
  std::error_code error;
  for (size_t i = kKept - 1; i < numbers.size(); ++i)
    std::filesystem::remove(PathOf(numbers[i]), error);
}

}  // namespace galley::director
