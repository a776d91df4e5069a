#include <ATen/ATen.h>

#include <iostream>

#include "blockzoo/nn/model.h"
#include "blockzoo/text/tokenizer.h"

int main(int, char** arguments) {
  const auto config = blockzoo::load_model_config("tiny.yaml");
  blockzoo::Model model(config);
  const auto tokens = at::arange(8, at::kLong).unsqueeze(0);
  std::cout << "logits " << model->forward(tokens).sizes() << '\n';
  std::cout << "ids " << blockzoo::open_tokenizer(arguments[1])->encode("To be").size() << '\n';
}
