#include "director/cli/grouped_messages.h"

#include <algorithm>
#include <cctype>

#include "director/core/conflict_text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::cli {
namespace {

// Lines shown of each text when the texts of a group differ.
constexpr size_t kLinesInGroup = 6;

bool IsWordEnd(char c) { return std::string_view(" \t\n,;()").find(c) != std::string_view::npos; }

// Returns the end of the quoted text at `at`; `at` itself when there is no quote. An apostrophe
// quotes nothing.
size_t EndOfQuoted(std::string_view text, size_t at) {
  const char quote = text[at];
  if (quote != '\'' && quote != '"' && quote != '`') return at;
  if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) return at;
  const size_t end = text.find(quote, at + 1);
  return end == std::string_view::npos || text.substr(at, end - at).find('\n') != text.npos
             ? at
             : end + 1;
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  if (what.empty()) return;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

// Returns at most `lines_max` lines; lines after the first are indented.
std::string Shortened(const std::string& text, size_t lines_max) {
  std::string shortened;
  for (size_t begin = 0, lines = 0; begin < text.size(); ++lines) {
    if (lines == lines_max) return shortened + " ...";
    const size_t end = std::min(text.find('\n', begin), text.size());
    shortened += (lines == 0 ? "" : "\n    ") + text.substr(begin, end - begin);
    begin = end + 1;
  }
  return shortened;
}

std::string Count(size_t packages) {
  return fmt::format("{} package{}", packages, packages == 1 ? "" : "s");
}

}  // namespace

std::string KindOf(std::string_view package, std::string_view text) {
  std::string rest(text);
  ReplaceAll(rest, package, "~");
  if (package.starts_with('/')) ReplaceAll(rest, package.substr(1), "~");
  std::string kind;
  for (size_t at = 0; at < rest.size();) {
    if (const size_t end = EndOfQuoted(rest, at); end != at) {
      kind += '~';
      at = end;
      continue;
    }
    size_t end = at;
    while (end < rest.size() && !IsWordEnd(rest[end]) &&
           (end == at || EndOfQuoted(rest, end) == end))
      ++end;
    if (end == at) {
      kind += rest[at++];
      continue;
    }
    const std::string_view word = std::string_view(rest).substr(at, end - at);
    at = end;
    if (word.find_first_of("/~") != std::string_view::npos) {
      kind += '~';
      continue;
    }
    for (size_t i = 0; i < word.size(); ++i) {
      const bool is_digit = std::isdigit(static_cast<unsigned char>(word[i])) != 0;
      if (!is_digit) kind += word[i];
      if (is_digit && (kind.empty() || kind.back() != '#')) kind += '#';
    }
  }
  return kind;
}

void GroupedMessages::Add(Message message) {
  // A message without a package is a kind by itself.
  const std::string name = message.package.empty()
                               ? '\n' + message.platform + '\n' + message.text
                               : message.stage + '\n' + KindOf(message.package, message.text);
  const auto [number, is_new_kind] = numbers_.emplace(name, kinds_.size());
  if (is_new_kind) kinds_.emplace_back();
  Kind& kind = kinds_[number->second];
  const auto [place, is_new] = at_.emplace(
      std::pair(number->second, message.package + '\n' + message.text), kind.members.size());
  if (is_new)
    kind.members.push_back(
        {std::move(message.package), std::move(message.text), std::move(message.chosen_by), {}});
  Member& member = kind.members[place->second];
  if (!member.platforms.insert(std::move(message.platform)).second) return;
  member.is_told = false;
  kind.has_news = true;
}

std::vector<std::string> GroupedMessages::TakeNew(const std::vector<std::string>& platforms) {
  std::vector<std::string> paragraphs;
  for (Kind& kind : kinds_) {
    if (!kind.has_news || (kind.is_told && !options_.is_verbose)) continue;
    kind.has_news = false;
    kind.is_told = true;
    std::vector<const Member*> news;
    for (Member& member : kind.members) {
      if (member.is_told) continue;
      member.is_told = member.was_told = true;
      news.push_back(&member);
    }
    if (!options_.is_verbose) {
      paragraphs.push_back(Paragraph(news, platforms, Again::kNo));
      continue;
    }
    for (const Member* one : news) paragraphs.push_back(Paragraph({one}, platforms, Again::kNo));
  }
  return paragraphs;
}

std::vector<std::string> GroupedMessages::TakeRest(const std::vector<std::string>& platforms) {
  std::vector<std::string> paragraphs = TakeNew(platforms);
  for (Kind& kind : kinds_) {
    if (!kind.has_news) continue;
    kind.has_news = false;
    const bool are_all_told =
        std::ranges::all_of(kind.members, [](const Member& one) { return one.was_told; });
    if (are_all_told && director::ReadConflict(kind.members[0].text)) continue;
    std::vector<const Member*> all;
    for (Member& member : kind.members) {
      member.is_told = true;
      all.push_back(&member);
    }
    paragraphs.push_back(
        Paragraph(all, platforms, are_all_told ? Again::kOnPlatforms : Again::kWithMore));
  }
  return paragraphs;
}

std::string GroupedMessages::Conflicts(const std::vector<const Member*>& members) {
  const Member& first = *members[0];
  const director::ConflictParts parts = *director::ReadConflict(first.text);
  std::string other_by;
  for (const Member* one : members) {
    if (one->package == parts.other) other_by = one->chosen_by;
  }
  const auto with_rule = [](std::string_view package, const std::string& chosen_by) {
    return chosen_by.empty() ? std::string(package) : fmt::format("{} ({})", package, chosen_by);
  };
  return fmt::format(
      "{} have outputs at the paths of others; no tree has any of the two. For example\n"
      "  {} and\n  {}\n  both want {}: {}.\n"
      "  Keep one of each two: leave the other out with [cook] never, or change a rule. --verbose "
      "and the summary name all of them.",
      Count(members.size()), with_rule(first.package, first.chosen_by),
      with_rule(parts.other, other_by), parts.path, parts.reason);
}

std::string GroupedMessages::Paragraph(const std::vector<const Member*>& members,
                                       const std::vector<std::string>& platforms,
                                       Again again) const {
  const std::set<std::string> every(platforms.begin(), platforms.end());
  const auto where = [&](const Member& one, bool with_rule) {
    const bool is_of_all = one.platforms.contains("") || (!every.empty() && one.platforms == every);
    const bool is_told = !one.package.empty() && is_of_all;
    const std::string names = is_told ? "" : fmt::format("{}", fmt::join(one.platforms, ", "));
    if (one.package.empty()) return names;
    std::string in = names;
    if (with_rule && !one.chosen_by.empty()) in += (in.empty() ? "" : "; ") + one.chosen_by;
    return in.empty() ? one.package : fmt::format("{} ({})", one.package, in);
  };
  const auto text = [&](const Member& one) {
    return again == Again::kNo         ? one.text
           : again == Again::kWithMore ? Shortened(one.text, 1)
                                       : "as told above";
  };
  if (members.size() == 1) {
    const std::string place = where(*members[0], true);
    return place.empty() ? text(*members[0]) : fmt::format("{}: {}", place, text(*members[0]));
  }

  std::vector<const Member*> sorted = members;
  std::ranges::stable_sort(
      sorted, [](const Member* a, const Member* b) { return a->package < b->package; });
  std::set<std::string_view> packages;
  for (const Member* one : sorted) packages.insert(one->package);
  if (director::ReadConflict(sorted[0]->text)) return Conflicts(sorted);
  if (options_.named_max == 1 && packages.size() == 1) {
    const size_t more = sorted.size() - 1;
    return fmt::format("{}: {}\n  and {} more such {} of it (--verbose, or the summary, has {})",
                       where(*sorted[0], true), text(*sorted[0]), more,
                       more == 1 ? "warning" : "warnings", more == 1 ? "it" : "them");
  }
  if (options_.named_max == 1) {
    return fmt::format("{}: {}\n  {} {} (--verbose, or the summary, names them)",
                       where(*sorted[0], true), text(*sorted[0]), Count(packages.size()),
                       options_.alike);
  }
  const bool is_one_text = std::ranges::all_of(sorted, [&](const Member* one) {
    return one->text == sorted[0]->text && one->chosen_by == sorted[0]->chosen_by;
  });
  std::string paragraph = fmt::format("{} {}", Count(packages.size()), options_.alike);
  if (is_one_text) {
    if (!sorted[0]->chosen_by.empty()) paragraph += fmt::format(" ({})", sorted[0]->chosen_by);
    paragraph += ": " + text(*sorted[0]);
  } else {
    paragraph += ":";
  }
  for (size_t i = 0; i < std::min(sorted.size(), options_.named_max); ++i) {
    paragraph += "\n  " + where(*sorted[i], !is_one_text);
    if (!is_one_text) paragraph += ": " + Shortened(sorted[i]->text, kLinesInGroup);
  }
  if (sorted.size() > options_.named_max)
    paragraph += fmt::format("\n  and {} more (--verbose, or the summary)",
                             sorted.size() - options_.named_max);
  return paragraph;
}

}  // namespace galley::cli
