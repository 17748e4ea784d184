// Kitchen: where the cooks of a Director run: its DirectorShell, with workers and worlds, which
// stay from one cook to the next for as long as the director's Setup is the same.
//
//   Enter   Follow   Cook   (the Place goes)
//
// Another Setup needs another shell: the workers of the one before end, and the term rises, so that
// no world and no attempt has the name of another.
//
// The core takes one cook after another, so one Place is given out at a time: to the highest class
// first, and within a class in the order of numbers.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "director/host/cook_class.h"
#include "director/host/director.h"
#include "director/shell/director_shell.h"

namespace galley::director {

class Kitchen {
 public:
  struct Deps {
    Director& director;
    Trace& trace;
    DirectorDoor* door = nullptr;  // null: the shell opens one while it lives
  };
  // All of `deps` outlives it.
  explicit Kitchen(const Deps& deps) : deps_(deps) {}
  ~Kitchen() { Close(); }

  // Place: the right of one cook to be in the kitchen, until it goes. Threads: one; Cancel: any.
  class Place {
   public:
    Place(Kitchen& kitchen, uint64_t cook) : kitchen_(kitchen), cook_(cook) {}
    ~Place() { kitchen_.Leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    uint64_t cook() const { return cook_; }
    // A cook that entered without a number gets one when it is sure to begin: one that is refused
    // before that is none of the project's cooks.
    void SetNumbering(std::function<uint64_t()> next) { next_ = std::move(next); }
    void TakeNumber() {
      if (cook_ == 0) cook_ = next_();
    }
    // Makes `scanned` the present world, made under `setup`. Workers of another setup end. Errors:
    // outcome_status.h.
    absl::StatusOr<WorldPtr> Follow(const SetupPtr& setup, std::shared_ptr<World> scanned) {
      return kitchen_.Follow(setup, std::move(scanned));
    }
    // REQUIRES: Follow, TakeNumber.
    absl::StatusOr<ShellOutcome> Cook(CookOrder order, ShellListener& listener);
    void Cancel();

   private:
    Kitchen& kitchen_;
    uint64_t cook_;  // 0: none yet
    std::function<uint64_t()> next_;
  };

  // Waits for a place. `wait` is called once if that takes time. CANCELLED: `stop` was.
  absl::StatusOr<std::unique_ptr<Place>> Enter(uint64_t cook, CookClass urgency_class,
                                               Cancellation& stop,
                                               const std::function<void()>& wait);

  // Ends the workers. REQUIRES: nobody is in the kitchen, and nobody enters it.
  void Close();

  // The shell at which cooks are now; null: there was no cook yet.
  std::shared_ptr<DirectorShell> shell() const;

 private:
  using Ticket = std::pair<int, uint64_t>;  // class, the highest first; number

  void Leave();
  absl::StatusOr<WorldPtr> Follow(const SetupPtr& setup, std::shared_ptr<World> scanned);
  absl::Status Open(const SetupPtr& setup, std::shared_ptr<World> world);
  ShellOptions OptionsOf(const Setup& setup, Inheritance inherited) const;

  const Deps deps_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::set<Ticket> waiting_ GALLEY_GUARDED_BY(mutex_);
  bool is_taken_ GALLEY_GUARDED_BY(mutex_) = false;

  std::shared_ptr<DirectorShell> shell_ GALLEY_GUARDED_BY(mutex_);
  // Whoever has the place.
  SetupPtr setup_;                             // of the shell
  std::vector<CookRequested::Blamed> blamed_;  // by a dead director's cook; for the first cook
};

}  // namespace galley::director
