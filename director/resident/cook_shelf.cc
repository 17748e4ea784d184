#include "director/resident/cook_shelf.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <vector>

#include "common/base/file.h"
#include "director/host/cook_numbers.h"
#include "fmt/format.h"

namespace galley::director {

CookShelf::CookShelf(const std::string& state_directory)
    : state_(state_directory), folder_(JoinPath(state_directory, kCooksFolder)) {}

CookShelf::Begun CookShelf::Begin(uint32_t term) {
  base::MutexLock lock(mutex_);
  const uint64_t number = TakeCookNumber(state_, term);
  RemoveOld();
  return {.number = number, .log = CookLog::Begin(PathOf(number), {})};
}

absl::StatusOr<std::shared_ptr<CookLog>> CookShelf::Find(uint64_t number) const {
  auto log = CookLog::Open(PathOf(number));
  if (!absl::IsNotFound(log.status())) return log;
  return absl::NotFoundError(fmt::format(
      "there is no cook {} here: of the cooks of a resident director the last {} are kept", number,
      kKept));
}

std::string CookShelf::PathOf(uint64_t number) const {
  return JoinPath(folder_, fmt::format("{}.log", number));
}

void CookShelf::RemoveOld() const {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    uint64_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec == std::errc() && std::string_view(read.ptr) == ".log") numbers.push_back(number);
  }
  std::sort(numbers.rbegin(), numbers.rend());
  for (size_t i = kKept - 1; i < numbers.size(); ++i)
    std::filesystem::remove(PathOf(numbers[i]), error);
}

}  // namespace galley::director
