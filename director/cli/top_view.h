// TopView: the screens of `galley top`: all cooks and workers, then the details of a cook or a
// worker, then the details of a package. Rows that lead somewhere can be chosen (up, down) and
// opened.
//
//   all -> a worker: its jobs -> a package
//   all -> a cook: its numbers, its longest job -> that package
//
// Threads: none.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "galley/v1/director.pb.h"
#include "galley/v1/worker.pb.h"

namespace galley::cli {

class TopView {
 public:
  enum class Key { kNone, kUp, kDown, kOpen, kBack, kByNumber, kByLeft, kByFailed, kQuit };
  // Returns the key that a terminal means with these bytes.
  static Key KeyOf(std::string_view bytes);

  // False: the user ends the view.
  bool Press(Key key);

  // The worker whose jobs the next status has to name; empty: none.
  std::string worker() const;

  // AskPackage: the director's answer about a package that is in a cook.
  using AskPackage = std::function<absl::StatusOr<v1::PackageAnswer>(const std::string& package)>;
  struct Size {
    size_t columns = 80, lines = 24;
  };
  // Returns the screen. The chosen row begins with '>', and stays in sight.
  std::string Draw(v1::StatusAnswer status, absl::Time now, const Size& size,
                   const AskPackage& ask);

 private:
  enum class Kind { kAll, kCook, kWorker, kPackage };
  enum class Order { kNumber, kLeft, kFailed };
  struct Screen {
    Kind kind = Kind::kAll;
    std::string name;   // name of the cook, worker or package
    size_t chosen = 0;  // index among the rows that lead somewhere
  };
  struct Row {
    std::string text;
    Kind opens = Kind::kAll;  // kAll: the row leads nowhere
    std::string name;
  };
  using Rows = std::vector<Row>;

  void Sort(v1::StatusAnswer& status) const;
  static void AddAll(const v1::StatusAnswer& status, absl::Time now, Rows& rows);
  static void AddCook(const v1::StatusAnswer& status, const std::string& name, Rows& rows);
  static void AddWorker(const v1::StatusAnswer& status, const std::string& name, absl::Time now,
                        Rows& rows);
  static void AddPackage(const std::string& name, const AskPackage& ask, Rows& rows);

  std::vector<Screen> screens_ = {Screen()};  // the last screen is shown; the others led to it
  Order order_ = Order::kNumber;
  Rows leading_;  // rows of the last drawing
};

}  // namespace galley::cli
