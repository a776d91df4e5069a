#include <ATen/ATen.h>

#include <iostream>

#include "blockzoo/nn/model.h"

int main() {
  const auto config = blockzoo::load_model_config("tiny.yaml");
  blockzoo::Model model(config);
  const auto tokens = at::arange(8, at::kLong).unsqueeze(0);
  std::cout << "logits " << model->forward(tokens).sizes() << '\n';
}
