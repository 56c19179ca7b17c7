document.documentElement.dataset.session = 'out'
