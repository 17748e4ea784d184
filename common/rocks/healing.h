// Healing: an open database that can be derived again. When a call finds damage, a new database is
// made, and the call is made once more with the new database.
//
// A call that met the damage waits for the new database. Calls that did not meet it go on with the
// old one, which lives until the last of them ends, unless Remake shuts them out. Only one database
// is made at a time. Damage that a call meets again in the new database is not healed a second
// time.
//
// Threads: any; heal_mutex_ before mutex_. No call is made under a lock, so a call may make
// another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"

namespace galley::rocks {

template <typename Database>
class Healing {
 public:
  // Returns the answer of `work(database, arguments...)`, a Status or a StatusOr. DATA_LOSS says
  // that the database is damaged. `work` may be called twice, the second time with another
  // database, and begins anew each time.
  template <typename Work, typename... Arguments>
  std::invoke_result_t<const Work&, Database&, const Arguments&...> With(
      const Work& work, const Arguments&... arguments) {
    for (bool is_healed = false;; is_healed = true) {
      const std::shared_ptr<Database> current = Current();
      auto answer = std::invoke(work, *current, arguments...);
      if (!absl::IsDataLoss(StatusOf(answer))) return answer;
      RETURN_IF_ERROR(is_healed ? GiveUp(StatusOf(answer)) : Heal(*current, StatusOf(answer)));
    }
  }

 protected:
  explicit Healing(std::shared_ptr<Database> database) : current_(std::move(database)) {}
  virtual ~Healing() = default;

  std::shared_ptr<Database> Current() const {
    const base::MutexLock lock(mutex_);
    return current_;
  }
  // How many databases were made; nullopt while a new database is being made or must be made.
  std::optional<uint64_t> Generation() const {
    const base::MutexLock lock(mutex_);
    return is_whole_ ? std::optional(generation_) : std::nullopt;
  }
  // Generation(), after the database that is being made exists, or could not be made.
  std::optional<uint64_t> SettledGeneration() {
    const base::MutexLock heal_lock(heal_mutex_);
    return Generation();
  }

  // Makes a database and hands it to Replace. An error ends the call that met `damage`; the next
  // call that meets damage tries again.
  virtual absl::Status Remake(Database& damaged, const absl::Status& damage)
      GALLEY_REQUIRES(heal_mutex_) = 0;
  // The error of a call that met damage again in the new database.
  virtual absl::Status DescribeDamageAgain(const absl::Status& damage)
      GALLEY_REQUIRES(heal_mutex_) {
    return damage;
  }
  void Replace(std::shared_ptr<Database> made) GALLEY_REQUIRES(heal_mutex_) {
    const base::MutexLock lock(mutex_);
    current_ = std::move(made);
    ++generation_;
    is_whole_ = true;
  }

  base::Mutex heal_mutex_;  // held while a database is made

 private:
  static const absl::Status& StatusOf(const absl::Status& status) { return status; }
  template <typename T>
  static const absl::Status& StatusOf(const absl::StatusOr<T>& answer) {
    return answer.status();
  }

  absl::Status Heal(Database& damaged, const absl::Status& damage) {
    const base::MutexLock heal_lock(heal_mutex_);
    if (Current().get() != &damaged) return absl::OkStatus();  // another call met it, too
    {
      const base::MutexLock lock(mutex_);
      is_whole_ = false;
    }
    return Remake(damaged, damage);
  }
  absl::Status GiveUp(const absl::Status& damage) {
    const base::MutexLock heal_lock(heal_mutex_);
    return DescribeDamageAgain(damage);
  }

  mutable base::Mutex mutex_;
  std::shared_ptr<Database> current_ GALLEY_GUARDED_BY(mutex_);
  uint64_t generation_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool is_whole_ GALLEY_GUARDED_BY(mutex_) = true;
};

}  // namespace galley::rocks
