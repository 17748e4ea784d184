// ShownCommand: `galley why` and `galley logs` for a client on another machine: the director runs
// the command that a person would type on its machine, and sends the output. A client can ask only
// for what ShowAsk (director.proto) names, and each part is checked before anything is run: each
// part becomes one argument of its own, and no shell sees it.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "director/cli/global_options.h"
#include "director/serve/client_calls.h"

namespace galley::cli {

// The most bytes of a command's output that are sent.
inline constexpr size_t kShownBytesMax = 64 << 20;

// Returns for example "why", "--json", "--", "/Game/a.png". INVALID_ARGUMENT: a client on another
// machine cannot ask for a part: a package is given by its virtual path.
absl::StatusOr<std::vector<std::string>> ArgumentsOf(const v1::ShowAsk& ask);

// ShownOutput: sends the output of a command to an audience, up to a bound. Threads: one at a time.
class ShownOutput {
 public:
  // `audience` outlives ShownOutput.
  explicit ShownOutput(director::Audience& audience, size_t bytes_max = kShownBytesMax)
      : audience_(audience), bytes_max_(bytes_max) {}
  // Without bytes: checks only whether somebody still listens. RESOURCE_EXHAUSTED: the bytes exceed
  // the bound, and are not sent. CANCELLED: nobody listens any more.
  absl::Status Take(bool is_of_errors, std::string_view bytes);

 private:
  director::Audience& audience_;
  const size_t bytes_max_;
  size_t told_ = 0;
};

// Runs this program with the arguments of `ask`, for the project at `root`. RESOURCE_EXHAUSTED: the
// program printed more than kShownBytesMax. CANCELLED: nobody listened any more.
absl::Status RunShown(const v1::ShowAsk& ask, const std::string& root, const std::string& store,
                      director::Audience& audience);

// Has the director of another machine run the command, and prints its output. Returns the exit
// code.
int ShowFromAfar(const GlobalOptions& options, const FarDirector& far, v1::ShowAsk ask);

}  // namespace galley::cli
