// MacroExpander: expands the macros of GLSL, as the compiler's preprocessor does, with a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::worker {

// The tokens that all macros of a compilation may write. A token counts each time it moves from a
// macro into another macro.
inline constexpr uint64_t kMacroTokensMax = 2'000'000;
// The depth of calls in each other's arguments.
inline constexpr size_t kMacroDepthMax = 1'000;

// Threads: none.
class MacroExpander {
 public:
  // Called when "#define " was read. `tokens`: the rest of the line. `has_parameters`: a "("
  // follows the name without a blank.
  void Define(const std::vector<std::string_view>& tokens, bool has_parameters);
  void Undefine(std::string_view name);
  // Whether, since the last call, a macro was defined that can write more than a few tokens for
  // each token that it is given.
  bool TakeRisky() { return std::exchange(is_risky_, false); }

  // Begins a new text, and forgets an unfinished call of the text before. `read` returns the tokens
  // of the new text, empty at the end; the tokens outlive this object.
  void BeginText(std::function<std::string_view()> read) {
    outer_ = {};
    outer_.read = std::move(read);
  }
  uint64_t spent() const { return spent_; }
  void SetSpent(uint64_t spent) { spent_ = spent; }

  // The next token of the text with its macros expanded; empty at the end. INVALID_ARGUMENT: the
  // macros write too much.
  absl::StatusOr<std::string_view> Next();
  // The tokens of a whole line, expanded.
  absl::StatusOr<std::vector<std::string_view>> ExpandLine(
      const std::vector<std::string_view>& line);

 private:
  using Tokens = std::vector<std::string_view>;
  struct Macro {
    bool has_parameters = false;
    Tokens parameters;
    Tokens body;
  };
  // An open macro, and the place in its tokens.
  struct Frame {
    std::string name;
    std::shared_ptr<const Tokens> tokens;
    size_t at = 0;
  };
  // A text in which macros are expanded.
  struct Stream {
    std::vector<Frame> frames;  // the innermost last
    std::set<std::string, std::less<>> busy;
    std::vector<std::string_view> ahead;  // tokens read ahead, the next token last
    std::function<std::string_view()> read;
  };

  std::string_view Keep(std::string_view token);
  absl::StatusOr<std::string_view> ReadRaw(Stream& stream);
  absl::StatusOr<std::string_view> NextOf(Stream& stream, size_t depth);
  absl::StatusOr<bool> Open(Stream& stream, std::string_view name, size_t depth);
  absl::StatusOr<std::vector<Tokens>> ReadArguments(Stream& stream);
  absl::StatusOr<Tokens> ExpandAll(const Tokens& tokens, size_t depth);
  absl::StatusOr<Tokens> Substitute(const Macro& macro, const std::vector<Tokens>& arguments,
                                    size_t depth);
  absl::Status Spend(uint64_t tokens);
  bool IsRisky(const Macro& macro) const;

  std::set<std::string, std::less<>> kept_;
  std::unordered_map<std::string_view, std::shared_ptr<const Macro>> macros_;  // names are kept
  Stream outer_;
  uint64_t spent_ = 0;
  bool is_risky_ = false;
};

}  // namespace galley::worker
