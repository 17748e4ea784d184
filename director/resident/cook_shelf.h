// CookShelf: the logs of a project's last cooks, for those who ask again: `<state>/cooks/<n>.log`.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "director/resident/cook_log.h"

namespace galley::director {

class CookShelf {
 public:
  static constexpr size_t kKept = 100;

  explicit CookShelf(const std::string& state_directory);

  // Of a new cook, with a number of its own (host/cook_numbers.h). The oldest logs beyond kKept go.
  struct Begun {
    uint64_t number = 0;
    std::shared_ptr<CookLog> log;
  };
  Begun Begin(uint32_t term);
  // Of a cook that has ended. NOT_FOUND says how many are kept.
  absl::StatusOr<std::shared_ptr<CookLog>> Find(uint64_t number) const;

 private:
  std::string PathOf(uint64_t number) const;
  void RemoveOld() const;

  const std::string state_, folder_;
  base::Mutex mutex_;  // one number is taken at a time
};

}  // namespace galley::director
