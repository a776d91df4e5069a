#include "lab/page_parts.h"

#include <stdexcept>

namespace blockzoo {
namespace {

std::string_view page_file(const std::vector<EmbeddedFile>& files, std::string_view name) {
  for (const auto& file : files) {
    if (file.name == name) return file.text;
  }
  throw std::logic_error("a page has no file " + std::string(name));
}

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '&') {
      result += "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

/// JSON in which nothing can end the script element that it stands in.
std::string inside_script(std::string_view json) {
  constexpr std::string_view line_separator = "\xe2\x80\xa8", paragraph_separator = "\xe2\x80\xa9";
  std::string result;
  result.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const auto rest = json.substr(i);
    if (json[i] == '<') {
      result += "\\u003c";
    } else if (rest.starts_with(line_separator) || rest.starts_with(paragraph_separator)) {
      result += rest.starts_with(line_separator) ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      result += json[i];
    }
  }
  return result;
}

}  // namespace

std::string filled_page(const std::vector<EmbeddedFile>& files, std::string_view title, std::string_view json) {
  auto rest = page_file(files, "page.html");
  std::string page;
  for (size_t at; (at = rest.find("{{")) != std::string_view::npos;) {
    const auto end = rest.find("}}", at);
    const auto name = rest.substr(at + 2, end - at - 2);
    page += rest.substr(0, at);
    if (name == "title") {
      page += html_text(title);
    } else if (name == "data") {
      page += inside_script(json);
    } else {
      page += page_file(files, name);
    }
    rest.remove_prefix(end + 2);
  }
  return page.append(rest);
}

}  // namespace blockzoo
