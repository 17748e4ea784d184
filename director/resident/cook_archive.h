// CookArchive: keeps the logs of a project's last cooks for later readers, in
// `<state>/cooks/<n>.log`. It keeps the asks of detached cooks that are not over in
// `<state>/cooks/<n>.ask`: the next director goes on with these cooks, however this director ends.
//
//   ask   "galley-cook-ask 1\n", the digest text of the bytes that follow, "\n", a CookAsk
//         (director.proto) with a sealed environment (asked_environment.h)
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "director/resident/cook_log.h"

namespace galley::director {

class CookArchive {
 public:
  static constexpr size_t kKept = 100;

  explicit CookArchive(const std::string& state_directory);

  // Begun: a new cook.
  struct Begun {
    uint64_t number = 0;  // host/cook_numbers.h
    std::shared_ptr<CookLog> log;
  };
  // Takes a new number, begins the log, and removes the oldest logs beyond kKept.
  Begun Begin(uint32_t term);
  // Begins anew the log of a cook that an earlier director left; removes the earlier log.
  std::shared_ptr<CookLog> BeginAgain(uint64_t number) const;

  // Writes the ask to the disk, and keeps it until Drop. A cook without a kept ask ends with the
  // director.
  absl::Status Keep(uint64_t number, const v1::CookAsk& ask) const;
  void Drop(uint64_t number) const;
  bool IsKept(uint64_t number) const;
  // Returns all kept asks, sorted by number. Drops damaged asks, and logs that.
  std::vector<std::pair<uint64_t, v1::CookAsk>> Kept() const;

  // Returns the log of a cook that has ended. NOT_FOUND says how many logs are kept.
  absl::StatusOr<std::shared_ptr<CookLog>> Find(uint64_t number) const;

 private:
  std::string PathOf(uint64_t number) const;
  std::string AskOf(uint64_t number) const;
  // Returns the numbers of the files with this ending, the newest first.
  std::vector<uint64_t> Numbers(std::string_view ending) const;
  void RemoveOld() const;

  const std::string state_, folder_;
  base::Mutex mutex_;
  uint64_t last_ GALLEY_GUARDED_BY(mutex_) = 0;  // the number taken last
};

}  // namespace galley::director
