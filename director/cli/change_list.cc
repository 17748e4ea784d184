#include "director/cli/change_list.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/content/name.h"

namespace galley::cli {
namespace {

std::string Canonical(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

absl::StatusOr<std::string> TextOf(const std::string& file) {
  if (file == "-")
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  std::error_code error;
  const std::filesystem::file_type type = std::filesystem::status(file, error).type();
  // A shell makes a pipe of <(git diff --name-only), and /dev/null is an empty list.
  if (type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character) {
    std::ifstream in(file, std::ios::binary);
    if (in) return std::string(std::istreambuf_iterator<char>(in), {});
  }
  absl::StatusOr<std::string> text = ReadFile(file);
  if (text.ok()) return text;
  return InvalidArgumentError(
      "--changed {}: expected a file with a list of paths, or - for standard input: {}", file,
      MessageOf(text.status()));
}

constexpr std::string_view kMark = "\xEF\xBB\xBF";  // byte order mark, in UTF-8

void AppendUtf8(char32_t code, std::string& text) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  const auto tail = [&](int bits) { put(0x80 | ((code >> bits) & 0x3F)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    put(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Converts a text in UTF-16 that begins with a byte order mark; nullopt: the text is none.
std::optional<std::string> FromUtf16(std::string_view text) {
  const bool is_little = text.starts_with("\xFF\xFE");
  if (!is_little && !text.starts_with("\xFE\xFF")) return std::nullopt;
  const auto unit = [&](size_t at) -> char32_t {
    const auto byte = [&](size_t of) { return static_cast<unsigned char>(text[of]); };
    return is_little ? byte(at) | byte(at + 1) << 8 : byte(at) << 8 | byte(at + 1);
  };
  constexpr char32_t kReplacement = 0xFFFD;
  std::string out;
  for (size_t at = 2; at + 1 < text.size(); at += 2) {
    char32_t code = unit(at);
    const bool is_high = code >= 0xD800 && code < 0xDC00;
    const char32_t low = is_high && at + 3 < text.size() ? unit(at + 2) : 0;
    if (low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      at += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = kReplacement;
    }
    AppendUtf8(code, out);
  }
  return out;
}

// Returns a path without git's quotes (core.quotePath, quote.c); nullopt: the line is not quoted,
// and stands for itself.
std::optional<std::string> Unquoted(std::string_view line) {
  constexpr std::string_view kLetters = "abtnvfr\"\\";
  constexpr std::string_view kMeant = "\a\b\t\n\v\f\r\"\\";
  if (line.size() < 2 || line.front() != '"' || line.back() != '"') return std::nullopt;
  line = line.substr(1, line.size() - 2);
  std::string path;
  while (!line.empty()) {
    const char first = line.front();
    line.remove_prefix(1);
    if (first == '"') return std::nullopt;
    if (first != '\\') {
      path += first;
      continue;
    }
    const size_t letter = line.empty() ? kLetters.npos : kLetters.find(line.front());
    if (letter != kLetters.npos) {
      path += kMeant[letter];
      line.remove_prefix(1);
      continue;
    }
    const auto is_octal = [](char one) { return one >= '0' && one <= '7'; };
    if (line.size() < 3 || line[0] > '3' || !is_octal(line[0]) || !is_octal(line[1]) ||
        !is_octal(line[2]))
      return std::nullopt;
    path += static_cast<char>((line[0] - '0') * 64 + (line[1] - '0') * 8 + (line[2] - '0'));
    line.remove_prefix(3);
  }
  return path;
}

// Returns the folder above the first byte that is no UTF-8, because nobody can ask for such a name.
std::string WithoutOtherBytes(std::string path) {
  size_t at = 0;
  while (at < path.size() && NextCodePoint(path, at)) {
  }
  if (at < path.size()) path.resize(path.rfind('/', at) == path.npos ? 0 : path.rfind('/', at));
  return path.empty() ? "." : path;
}

}  // namespace

std::vector<std::string> PathsIn(std::string_view text) {
  const std::optional<std::string> converted = FromUtf16(text);
  if (converted) text = *converted;
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  const char separator = text.find('\0') != std::string_view::npos ? '\0' : '\n';
  std::vector<std::string> paths;
  while (!text.empty()) {
    std::string_view path = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), path.size() + 1));
    if (separator == '\n' && path.ends_with('\r')) path.remove_suffix(1);
    // A list that was put together from lists has a mark in the middle.
    if (separator == '\n' && path.starts_with(kMark)) path.remove_prefix(kMark.size());
    std::string plain(path);
    if (separator == '\n') plain = Unquoted(path).value_or(plain);
    if (!plain.empty()) paths.push_back(WithoutOtherBytes(std::move(plain)));
  }
  return paths;
}

void AddPath(const project::Project& project, const std::string& named, ChangeList& list) {
  std::string path = named;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::set<std::string> found;
  for (const content::Mount& mount : project.mounts) {
    if (content::IsUnder(path, mount.path)) found.insert(path);
    // The folder contains the mount: all of the mount changed.
    if (content::IsUnder(mount.path, path)) found.insert(mount.path);
    for (const std::string& host : {AbsolutePath(path), Canonical(AbsolutePath(path))}) {
      for (const std::string& folder : {mount.directory, Canonical(mount.directory)}) {
        if (content::IsUnder(host, folder)) found.insert(mount.path + host.substr(folder.size()));
        if (content::IsUnder(folder, host)) found.insert(mount.path);
      }
    }
  }
  list.elsewhere += found.empty();
  list.paths.insert(list.paths.end(), found.begin(), found.end());
}

absl::StatusOr<ChangeList> ReadChangeLists(const project::Project& project,
                                           const std::vector<std::string>& files) {
  ChangeList list;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text, TextOf(file));
    for (const std::string& path : PathsIn(text)) AddPath(project, path, list);
  }
  SortUnique(list.paths);
  return list;
}

}  // namespace galley::cli
