#include "worker/cookers/shader/macro_expander.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/shader/glsl_scanner.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {

std::string_view MacroExpander::Keep(std::string_view token) {
  const auto found = kept_.find(token);
  return found != kept_.end() ? *found : *kept_.emplace(token).first;
}

absl::Status MacroExpander::Spend(uint64_t tokens) {
  spent_ += tokens;
  if (spent_ <= kMacroTokensMax) return absl::OkStatus();
  return VerdictError(
      "macros write more than {} words and signs; write functions in place of macros that name "
      "others twice",
      kMacroTokensMax);
}

void MacroExpander::Define(const std::vector<std::string_view>& tokens, bool has_parameters) {
  if (tokens.empty()) return;
  Macro macro;
  size_t body = 1;
  if (has_parameters) {
    macro.has_parameters = true;
    for (body = 2; body < tokens.size() && tokens[body] != ")"; ++body) {
      if (tokens[body] != ",") macro.parameters.push_back(Keep(tokens[body]));
    }
    body = std::min(body + 1, tokens.size());
  }
  for (size_t i = body; i < tokens.size(); ++i) macro.body.push_back(Keep(tokens[i]));
  is_risky_ = is_risky_ || IsRisky(macro);
  macros_[Keep(tokens[0])] = std::make_shared<const Macro>(std::move(macro));
}

// A risky macro is long, or names another macro, an argument twice, or the parts of a name.
bool MacroExpander::IsRisky(const Macro& macro) const {
  constexpr size_t kShort = 64;
  if (macro.body.size() > kShort) return true;
  std::set<std::string_view> seen;
  for (const std::string_view token : macro.body) {
    if (token == "##" || macros_.contains(token)) return true;
    const bool is_parameter = std::ranges::find(macro.parameters, token) != macro.parameters.end();
    if (is_parameter && !seen.insert(token).second) return true;
  }
  return false;
}

void MacroExpander::Undefine(std::string_view name) {
  if (const auto found = macros_.find(name); found != macros_.end()) macros_.erase(found);
}

absl::StatusOr<std::string_view> MacroExpander::ReadRaw(Stream& stream) {
  if (!stream.ahead.empty()) {
    const std::string_view token = stream.ahead.back();
    stream.ahead.pop_back();
    return token;
  }
  while (!stream.frames.empty()) {
    Frame& frame = stream.frames.back();
    if (frame.at < frame.tokens->size()) {
      RETURN_IF_ERROR(Spend(1));
      return (*frame.tokens)[frame.at++];
    }
    stream.busy.erase(frame.name);
    stream.frames.pop_back();
  }
  return stream.read();
}

// Reads the arguments behind a "(". A text that ends too early ends the last argument.
absl::StatusOr<std::vector<MacroExpander::Tokens>> MacroExpander::ReadArguments(Stream& stream) {
  std::vector<Tokens> arguments(1);
  for (size_t depth = 1;;) {
    ASSIGN_OR_RETURN(const std::string_view token, ReadRaw(stream));
    if (token.empty() || (token == ")" && --depth == 0)) return arguments;
    if (token == "\n") continue;
    if (token == "(") ++depth;
    RETURN_IF_ERROR(Spend(1));
    if (token == "," && depth == 1) {
      arguments.emplace_back();
    } else {
      arguments.back().push_back(Keep(token));
    }
  }
}

absl::StatusOr<MacroExpander::Tokens> MacroExpander::ExpandAll(const Tokens& tokens, size_t depth) {
  if (depth > kMacroDepthMax) {
    return VerdictError("calls of macros nest deeper than {}; use variables for the inner ones",
                        kMacroDepthMax);
  }
  Stream stream;
  stream.read = [&tokens, at = size_t{0}]() mutable {
    return at < tokens.size() ? tokens[at++] : std::string_view();
  };
  Tokens all;
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view token, NextOf(stream, depth));
    if (token.empty()) return all;
    RETURN_IF_ERROR(Spend(1));
    all.push_back(token);
  }
}

// Expands arguments before they are put in, except those beside "##".
absl::StatusOr<MacroExpander::Tokens> MacroExpander::Substitute(
    const Macro& macro, const std::vector<Tokens>& arguments, size_t depth) {
  std::vector<std::optional<Tokens>> expanded(arguments.size());
  Tokens written;
  bool pastes = false;
  for (size_t i = 0; i < macro.body.size(); ++i) {
    const std::string_view token = macro.body[i];
    if (token == "##") {
      pastes = !written.empty();
      continue;
    }
    const auto parameter = std::ranges::find(macro.parameters, token);
    const auto index = static_cast<size_t>(parameter - macro.parameters.begin());
    const bool is_pasted = pastes || (i + 1 < macro.body.size() && macro.body[i + 1] == "##");
    Tokens put = {token};
    if (index < macro.parameters.size()) {
      put = index < arguments.size() ? arguments[index] : Tokens();
      if (!is_pasted && index < arguments.size()) {
        if (!expanded[index].has_value()) {
          ASSIGN_OR_RETURN(expanded[index], ExpandAll(arguments[index], depth + 1));
        }
        put = *expanded[index];
      }
    }
    RETURN_IF_ERROR(Spend(put.size()));
    if (pastes && !put.empty()) {
      put.front() = Keep(fmt::format("{}{}", written.back(), put.front()));
      written.pop_back();
    }
    pastes = false;
    written.insert(written.end(), put.begin(), put.end());
  }
  return written;
}

// Whether `name` names a macro that is expanded from here on.
absl::StatusOr<bool> MacroExpander::Open(Stream& stream, std::string_view name, size_t depth) {
  if (!IsWordStart(name[0])) return false;
  const auto found = macros_.find(name);
  if (found == macros_.end() || stream.busy.contains(name)) return false;
  const std::shared_ptr<const Macro> macro = found->second;
  std::shared_ptr<const Tokens> written(macro, &macro->body);
  if (macro->has_parameters) {
    std::vector<std::string_view> skipped;  // ends of lines
    std::string_view next;
    do {
      ASSIGN_OR_RETURN(next, ReadRaw(stream));
      skipped.push_back(next);
    } while (next == "\n");
    if (next != "(") {
      stream.ahead.insert(stream.ahead.end(), skipped.rbegin(), skipped.rend());
      return false;
    }
    ASSIGN_OR_RETURN(const std::vector<Tokens> arguments, ReadArguments(stream));
    ASSIGN_OR_RETURN(Tokens tokens, Substitute(*macro, arguments, depth));
    written = std::make_shared<const Tokens>(std::move(tokens));
  }
  RETURN_IF_ERROR(Spend(1));
  stream.busy.emplace(name);
  stream.frames.push_back({.name = std::string(name), .tokens = std::move(written)});
  return true;
}

absl::StatusOr<std::string_view> MacroExpander::NextOf(Stream& stream, size_t depth) {
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view token, ReadRaw(stream));
    if (token.empty()) return token;
    ASSIGN_OR_RETURN(const bool is_macro, Open(stream, token, depth));
    if (!is_macro) return token;
  }
}

absl::StatusOr<std::string_view> MacroExpander::Next() {
  // Nearly all tokens stand in the text itself and name no macro.
  if (outer_.frames.empty() && outer_.ahead.empty()) {
    const std::string_view token = outer_.read();
    if (token.empty() || !IsWordStart(token[0]) || !macros_.contains(token)) return token;
    outer_.ahead.push_back(token);
  }
  return NextOf(outer_, 0);
}

absl::StatusOr<std::vector<std::string_view>> MacroExpander::ExpandLine(
    const std::vector<std::string_view>& line) {
  return ExpandAll(line, 0);
}

}  // namespace galley::worker
